#include "trace/tuning/unit_moments.h"

#include <gtest/gtest.h>

namespace shardlens::trace::tuning {
namespace {

// Forward from 0 to 100, of which each of two blocks is 40 and the head the rest; backward to 300.
predict::MicroBatchWork bare() {
  predict::MicroBatchWork work;
  work.backward_begin = {100, 0};
  work.end = {300, 20};
  return work;
}

TEST(UnitMoments, FollowOperationsWhereNothingElseIsKnown) {
  auto work = bare();
  fill_unit_moments({.blocks = 2, .block_share = 0.4, .blocks_of_gradients = {}}, work);
  ASSERT_EQ(work.forwards.size(), 2u);
  EXPECT_EQ(work.forwards[0].begin.computed_ns, 0);
  EXPECT_EQ(work.forwards[1].begin.computed_ns, 40);
  ASSERT_EQ(work.backwards.size(), 2u);
  EXPECT_EQ(work.backwards[0].unit, 2) << "the last block first";
  EXPECT_EQ(work.backwards[0].begin.computed_ns, 140) << "behind the head's fifth";
  EXPECT_EQ(work.backwards[0].end.computed_ns, 220);
  EXPECT_EQ(work.backwards[1].end, (predict::Moment{300, 20}));
}

TEST(UnitMoments, OfBackwardEndWithTheLastGradientOfABlock) {
  auto work = bare();
  work.gradients = {{130, 0}, {170, 2}, {210, 5}, {250, 8}, {290, 10}};
  fill_unit_moments({.blocks = 2, .block_share = 0.4, .blocks_of_gradients = {-1, 1, 1, 0, -1}},
                    work);
  ASSERT_EQ(work.backwards.size(), 2u);
  EXPECT_EQ(work.backwards[0].end, (predict::Moment{210, 5}));
  EXPECT_EQ(work.backwards[1].begin, (predict::Moment{210, 5}));
  EXPECT_EQ(work.backwards[1].end, (predict::Moment{250, 8}));
}

TEST(UnitMoments, ThatWereRecordedStay) {
  auto work = bare();
  work.forwards = {{1, {7, 0}}, {2, {8, 0}}};
  work.backwards = {{2, {110, 0}, {120, 0}}, {1, {120, 0}, {130, 0}}};
  fill_unit_moments({.blocks = 2, .block_share = 0.4, .blocks_of_gradients = {}}, work);
  EXPECT_EQ(work.forwards[1].begin.computed_ns, 8);
  EXPECT_EQ(work.backwards[1].end.computed_ns, 130);
}

}  // namespace
}  // namespace shardlens::trace::tuning
