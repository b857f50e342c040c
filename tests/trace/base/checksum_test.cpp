#include "trace/base/checksum.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <vector>

namespace shardlens::trace::base {
namespace {

// A zstd frame with a checksum ends in the lower half of its content's XXH64.
std::uint32_t half_by_zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::vector<char> frame(ZSTD_compressBound(text.size()) + 16);
  const std::size_t size =
      ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  std::uint32_t half = 0;
  std::memcpy(&half, frame.data() + size - sizeof(half), sizeof(half));
  return half;
}

TEST(Checksum, IsXxh64) {
  // The reference implementation's own values.
  EXPECT_EQ(checksum_of(""), 0xef46db3751d8e999);
  EXPECT_EQ(checksum_of("a"), 0xd24ec4f1a98c6e5b);
  EXPECT_EQ(checksum_of("abc"), 0x44bc2cf5ad770999);
}

TEST(Checksum, AgreesWithAnotherImplementationAtEveryLength) {
  std::string text;
  for (int length = 0; length < 200; ++length) {
    EXPECT_EQ(static_cast<std::uint32_t>(checksum_of(text)), half_by_zstd(text)) << length;
    text += static_cast<char>(length * 37 + 11);
  }
}

TEST(Checksum, SurvivesItsTextAndRefusesAnyOther) {
  for (const std::uint64_t value : {0ull, 1ull, 0xef46db3751d8e999ull, ~0ull}) {
    EXPECT_EQ(checksum_from_text(checksum_text(value)), value);
  }
  EXPECT_EQ(checksum_text(255), "00000000000000ff");
  for (const char* wrong : {"", "ff", "00000000000000FF", "00000000000000fg", "0x000000000000ff",
                            "00000000000000ff0", " 0000000000000ff", "-000000000000001"}) {
    EXPECT_FALSE(checksum_from_text(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace shardlens::trace::base
