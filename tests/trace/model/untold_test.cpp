#include "trace/model/untold.h"

#include <gtest/gtest.h>

namespace shardlens::trace::model {
namespace {

std::string named(const std::vector<std::int64_t>& steps) {
  const std::string text = different_steps({{0, steps}, {1, {0}}}, true);
  const auto from = text.find("rank 0 in ") + 10;
  return text.substr(from, text.find(", rank 1 in step 0") - from);
}

TEST(Untold, NamesNoStepsThatWereNotRecorded) {
  EXPECT_EQ(named({3}), "step 3");
  EXPECT_EQ(named({3, 4, 5, 6}), "steps 3 to 6");
  EXPECT_EQ(named({2, 5}), "steps 2 and 5");
  EXPECT_EQ(named({0, 1, 2, 4, 7, 8}), "steps 0 to 2, 4 and 7 to 8");
  EXPECT_EQ(named({1, 3, 5, 7, 9, 11}), "steps 1, 3, 5, 7 and 2 more");
  EXPECT_EQ(named({}), "no steps");
}

TEST(Untold, RanksOfTheSameStepsAreNoneOfADifference) {
  EXPECT_EQ(different_steps({{0, {2, 5}}, {1, {2, 5}}}, true), "");
}

}  // namespace
}  // namespace shardlens::trace::model
