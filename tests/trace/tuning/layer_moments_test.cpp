#include "trace/tuning/unit_moments.h"

#include <gtest/gtest.h>

#include "trace/job/shape/model_shape.h"

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
  fill_unit_moments(
      {.blocks = 2, .block_share = 0.4, .backward_share = 0.4, .blocks_of_gradients = {}}, work);
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
  fill_unit_moments({.blocks = 2,
                     .block_share = 0.4,
                     .backward_share = 0.4,
                     .blocks_of_gradients = {-1, 1, 1, 0, -1}},
                    work);
  ASSERT_EQ(work.backwards.size(), 2u);
  EXPECT_EQ(work.backwards[0].end, (predict::Moment{210, 5}));
  EXPECT_EQ(work.backwards[1].begin, (predict::Moment{210, 5}));
  EXPECT_EQ(work.backwards[1].end, (predict::Moment{250, 8}));
}

// The head's backward takes twice its forward: with chunks forward has all of that.
TEST(UnitMoments, OfALossInChunksHaveTheHeadsBackwardInForward) {
  job::Settings settings;
  settings.loss_chunk_tokens = 0;
  const auto shape = *job::find_model_preset("tiny");
  const UnitMoments whole = unit_moments(predict::job_on_this_machine(settings, shape), {});
  const auto blocks = static_cast<double>(whole.blocks);
  const double head = 1 - blocks * whole.block_share;
  ASSERT_GT(head, 0.01);
  EXPECT_DOUBLE_EQ(whole.backward_share, whole.block_share);
  settings.loss_chunk_tokens = 64;
  const UnitMoments chunks = unit_moments(predict::job_on_this_machine(settings, shape), {});
  EXPECT_NEAR(chunks.block_share, whole.block_share / (1 + 2 * head), 1e-9);
  EXPECT_NEAR(blocks * chunks.backward_share, 1, 1e-9);
}

TEST(UnitMoments, ThatWereRecordedStay) {
  auto work = bare();
  work.forwards = {{1, {7, 0}}, {2, {8, 0}}};
  work.backwards = {{2, {110, 0}, {120, 0}}, {1, {120, 0}, {130, 0}}};
  fill_unit_moments(
      {.blocks = 2, .block_share = 0.4, .backward_share = 0.4, .blocks_of_gradients = {}}, work);
  EXPECT_EQ(work.forwards[1].begin.computed_ns, 8);
  EXPECT_EQ(work.backwards[1].end.computed_ns, 130);
}

}  // namespace
}  // namespace shardlens::trace::tuning
