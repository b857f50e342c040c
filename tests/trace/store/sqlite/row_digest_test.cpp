#include "trace/store/sqlite/row_digest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace shardlens::trace::store {
namespace {

std::uint64_t sum_of(const std::string& text, int integers, std::int64_t last) {
  RowDigest digest;
  digest.add_text(text);
  for (int i = 0; i < integers; ++i) digest.add_integer(i);
  digest.add_integer(last);
  digest.end_row(1);
  return digest.take();
}

TEST(RowDigest, CountsEveryValueOfARowOfAnyLength) {
  // Around where its room ends, and far beyond.
  for (const std::size_t size : {0, 1, 200, 1'000, 1'014, 1'015, 1'023, 1'024, 1'025, 70'000}) {
    std::string text(size, 'a');
    const std::uint64_t sum = sum_of(text, 200, 7);
    EXPECT_EQ(sum, sum_of(text, 200, 7)) << size;
    EXPECT_NE(sum, sum_of(text, 200, 8)) << size;
    EXPECT_NE(sum, sum_of(text, 199, 7)) << size;
    if (size == 0) continue;
    text.back() = 'b';
    EXPECT_NE(sum, sum_of(text, 200, 7)) << size;
    text.back() = 'a';
    text.front() = 'b';
    EXPECT_NE(sum, sum_of(text, 200, 7)) << size;
  }
}

TEST(RowDigest, SumsUpARowAlikeAfterALongOne) {
  const std::uint64_t alone = sum_of("name", 3, 4);
  RowDigest digest;
  digest.add_text(std::string(5'000, 'x'));
  digest.end_row(1);
  digest.take();
  digest.add_text("name");
  for (int i = 0; i < 3; ++i) digest.add_integer(i);
  digest.add_integer(4);
  digest.end_row(1);
  EXPECT_EQ(digest.take(), alone);
}

TEST(RowDigest, ForgetsARowThatDidNotEnd) {
  RowDigest digest;
  digest.add_integer(5);
  digest.take();
  digest.add_integer(6);
  digest.end_row(1);
  RowDigest other;
  other.add_integer(6);
  other.end_row(1);
  EXPECT_EQ(digest.take(), other.take());
}

TEST(RowDigest, TellsTablesAndKindsOfValuesApart) {
  const auto sum = [](auto&& add, std::uint64_t table) {
    RowDigest digest;
    add(digest);
    digest.end_row(table);
    return digest.take();
  };
  const auto zero = [](RowDigest& digest) { digest.add_integer(0); };
  EXPECT_NE(sum(zero, 1), sum(zero, 2));
  EXPECT_NE(sum(zero, 1), sum([](RowDigest& digest) { digest.add_real(0); }, 1));
  EXPECT_NE(sum(zero, 1), sum([](RowDigest& digest) { digest.add_null(); }, 1));
  EXPECT_NE(sum(zero, 1), sum([](RowDigest& digest) { digest.add_text(""); }, 1));
}

}  // namespace
}  // namespace shardlens::trace::store
