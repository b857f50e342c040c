#include "trace/store/chunk/varint.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace shardlens::trace::store {
namespace {

using Buffer = std::array<std::byte, kLongestVarint>;

template <typename Put>
std::vector<std::byte> written(Put&& put) {
  Buffer buffer{};
  VarintWriter writer{buffer.data()};
  put(writer);
  return {buffer.data(), writer.position};
}

TEST(Varint, WritesTheSameBytesWhateverLengthsAreExpected) {
  for (int bit = 0; bit <= 64; ++bit) {
    const std::uint64_t border = bit == 64 ? 0 : std::uint64_t{1} << bit;
    for (const std::uint64_t value :
         {border - 1, border, border + 1, border | 0x5555'5555'5555'5555u % (border | 1)}) {
      const auto expected = written([&](VarintWriter& to) { to.put(value); });
      VarintReader reader{expected.data(), expected.data() + expected.size()};
      EXPECT_EQ(reader.next(), value);
      EXPECT_EQ(reader.position, reader.end) << value;
      EXPECT_EQ(written([&](VarintWriter& to) { to.put_mixed(value); }), expected) << value;
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::store
