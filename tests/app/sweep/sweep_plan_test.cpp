#include "app/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up_sweep.h"

namespace shardlens::app::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SweepPlan, OrdersAreThoseOfTheSeed) {
  SweepPlan plan = made_up_plan({1, 2, 3, 4, 5, 6}, 2);
  plan.seed = 7;
  // Written down: another order for the same seed would mix two when a sweep goes on.
  EXPECT_THAT(order_of(plan, 0), ElementsAre(0, 2, 5, 4, 1, 3));
  EXPECT_NE(order_of(plan, 0), order_of(plan, 1));
  auto again = plan;
  again.seed = 8;
  EXPECT_NE(order_of(plan, 0), order_of(again, 0));
}

TEST(SweepPlan, EachPointComesFirstAboutAsOften) {
  SweepPlan plan = made_up_plan({1, 2, 3, 4}, 2);
  std::vector<int> first(4);
  for (int round = 0; round < 400; ++round) ++first[order_of(plan, round).front()];
  for (const int count : first) EXPECT_NEAR(count, 100, 35);
}

TEST(SweepPlan, RunsAreNamedByTheSweepAndByWhatVaries) {
  const SweepPlan plan = made_up_plan({0.25, 25}, 2);
  EXPECT_THAT(point_names(plan), ElementsAre("caps, cap 0.25", "caps, cap 25"));
  EXPECT_EQ(run_name(point_names(plan)[1], 1), "caps, cap 25, run 2");
}

TEST(SweepPlan, PointsWhoseShortNamesAreTheSameAreNumbered) {
  SweepPlan plan = made_up_plan({1, 1}, 1);
  plan.points.varied = {trace::job::find_knob("data")};
  plan.points.settings[0].data = "/here/texts";
  plan.points.settings[1].data = "/there/texts";
  EXPECT_THAT(point_names(plan), ElementsAre("caps, point 1", "caps, point 2"));
}

TEST(SweepPlan, RefusesNamesThatCannotBeAFolders) {
  for (const char* name : {"", ".hidden", "a/b", "..", " a", "a\nb"}) {
    EXPECT_FALSE(check_sweep_name(name)) << name;
  }
  EXPECT_FALSE(check_sweep_name(std::string(81, 'a')));
  EXPECT_TRUE(check_sweep_name("caps, näher (2)"));
  EXPECT_EQ(tag_of({.name = "caps, near", .points = {}}), "caps--near");
}

TEST(SweepPlan, TellsWhatTwoSweepsDoDifferently) {
  const SweepPoints points = made_up_plan({1, 4}, 2).points;
  SweepPoints turned = points;
  std::swap(turned.settings[0], turned.settings[1]);
  EXPECT_EQ(difference_text(points, turned), "");
  SweepPoints others = made_up_plan({1, 8}, 2).points;
  for (auto& settings : others.settings) settings.steps = 7;
  EXPECT_THAT(difference_text(points, others), HasSubstr("bucket_cap_mb: 1, 4 there, 1, 8 here"));
  EXPECT_THAT(difference_text(points, others), HasSubstr("steps:"));
}

// Of a point of a strategy only what that obeys.
TEST(SweepNames, OfStrategiesSayWhatEachObeys) {
  SweepPlan plan;
  plan.name = "s";
  plan.points = *grid_of({}, {"sharding_strategy=ddp,full_shard", "bucket_cap_mb=4",
                              "backward_prefetch=post", "forward_prefetch=true"});
  EXPECT_THAT(point_names(plan),
              testing::ElementsAre("s, ddp, cap 4",
                                   "s, full_shard, backward prefetch post, forward prefetch"));
}

}  // namespace
}  // namespace shardlens::app::sweep
