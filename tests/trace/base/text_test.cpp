#include "trace/base/text.h"

#include <gtest/gtest.h>

namespace shardlens::trace::base {
namespace {

TEST(Shortened, IsTheTextUnlessItIsLong) {
  EXPECT_EQ(shortened(""), "");
  EXPECT_EQ(shortened(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(shortened(std::string(201, 'x')), std::string(200, 'x') + "…");
}

TEST(Shortened, CutsNoCharacter) {
  std::string text(199, 'x');
  EXPECT_EQ(shortened(text + "éé"), text + "…");
  EXPECT_EQ(shortened(text.substr(1) + "éé"), text.substr(1) + "é…");
  EXPECT_LE(shortened(std::string(500, '\x80')).size(), 203u) << "what is no character at all";
}

TEST(Listed, SetsCommasAndTheLastWord) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b"}), "a and b");
  EXPECT_EQ(listed({"a", "b", "c"}, " or "), "a, b or c");
}

TEST(Joined, SetsTheSeparatorBetweenEmptyTextsToo) {
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}, "; "), "; b; ");
  EXPECT_EQ(joined(std::vector<int>{-1, 2}), "-1, 2");
  EXPECT_EQ(joined(std::vector<int>{1, 2}, " ", [](int i) { return i == 1 ? "one" : "more"; }),
            "one more");
}

TEST(SomeOf, CountsWhatItDoesNotName) {
  const std::vector<std::string> texts{"a", "b", "c"};
  EXPECT_EQ(some_of({}, 2), "");
  EXPECT_EQ(some_of(texts, 3), "a, b, c");
  EXPECT_EQ(some_of(texts, 2), "a, b and 1 more");
}

TEST(NumberFrom, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(number_from<int>("-12"), -12);
  EXPECT_EQ(number_from<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(number_from<double>("1e-3"), 1e-3);
  for (const char* none : {"", " 1", "1 ", "1x", "x", "+1", "0x1", "1.5", "2147483648"}) {
    EXPECT_FALSE(number_from<int>(none)) << none;
  }
}

TEST(NumberFrom, IsFinite) {
  for (const char* none : {"inf", "-inf", "nan", "1e999"}) {
    EXPECT_FALSE(number_from<double>(none)) << none;
  }
}

}  // namespace
}  // namespace shardlens::trace::base
