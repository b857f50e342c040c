#include "app/search/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "app/sweep/sweep_plan.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::app::search {
namespace {

using testing::Contains;
using testing::Not;
using trace::job::Settings;
using trace::job::Strategy;

TEST(SearchSpace, BeginsWhereItStarts) {
  Settings base;
  base.bucket_cap_mb = 3;
  const auto points = search_points(base, {"bucket_cap_mb=1,2"});
  ASSERT_TRUE(points);
  ASSERT_EQ(points->settings.size(), 3u);
  EXPECT_EQ(points->settings.front(), base);
  base.bucket_cap_mb = 2;
  const auto others = search_points(base, {"bucket_cap_mb=1,2"});
  EXPECT_EQ(others->settings.size(), 2u);
  EXPECT_EQ(others->settings.front(), base);
}

std::vector<Settings> default_settings(const Settings& base, Goal goal) {
  const auto points = default_points(base, goal);
  EXPECT_TRUE(points) << points.error().message;
  return points ? points->settings : std::vector<Settings>{};
}

Settings on_cpu(Strategy strategy = Strategy::kDdp) {
  Settings base;
  base.device = trace::job::DeviceChoice::kCpu;
  base.ranks = 2;
  base.steps = 33;
  base.sharding_strategy = strategy;
  return base;
}

// Whichever strategy it starts from: all that train the same are tried, each with the knobs that
// it obeys, and nothing that changes what a step learns.
TEST(SearchSpace, HoldsEveryStrategyThatTrainsTheSame) {
  for (const auto& from : trace::job::strategies()) {
    for (const Goal goal : kGoals) {
      const Settings base = on_cpu(from.strategy);
      const auto settings = default_settings(base, goal);
      ASSERT_FALSE(settings.empty());
      EXPECT_EQ(settings.front(), base);
      for (const auto& traits : trace::job::strategies()) {
        const bool is_there = std::ranges::find(settings, traits.strategy,
                                                &Settings::sharding_strategy) != settings.end();
        EXPECT_EQ(is_there, !traits.has_groups || traits.strategy == from.strategy) << traits.name;
      }
      for (const Settings& point : settings) {
        EXPECT_TRUE(point.batch_per_rank == base.batch_per_rank || goal == Goal::kTokenRate);
        EXPECT_EQ(point.communication_hook, base.communication_hook);
        EXPECT_EQ(point.precision, base.precision);
        EXPECT_EQ(point.gradient_accumulation_steps, base.gradient_accumulation_steps);
      }
    }
  }
}

// A knob that a strategy does not obey, or that has no effect with it, multiplies nothing: no point
// does the same as another.
TEST(SearchSpace, HoldsNoPointTwice) {
  for (const auto& from : trace::job::strategies()) {
    for (const Goal goal : kGoals) {
      const auto points = default_points(on_cpu(from.strategy), goal);
      ASSERT_TRUE(points);
      const auto jobs = sweep::jobs_of(*points, {});
      const auto firsts = sweep::doubles_of(jobs);
      for (std::size_t i = 0; i < firsts.size(); ++i) {
        EXPECT_EQ(firsts[i], i) << sweep::point_text(*points, i) << " as "
                                << sweep::point_text(*points, firsts[i]);
      }
      if (goal == Goal::kStepTime) {
        EXPECT_LE(points->settings.size(), 36u);
      }
    }
  }
}

TEST(SearchSpace, LeavesOutStrategiesThatWouldLearnSomethingElse) {
  Settings compressed = on_cpu();
  compressed.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  EXPECT_EQ(default_strategies(compressed), (std::vector{Strategy::kDdp, Strategy::kZero1}));
  Settings cast = on_cpu(Strategy::kFullShard);
  cast.param_dtype = trace::job::DataType::kBf16;
  EXPECT_EQ(default_strategies(cast),
            (std::vector{Strategy::kNoShard, Strategy::kShardGradOp, Strategy::kFullShard}));
}

TEST(SearchSpace, TriesHybridStrategiesBetweenNodes) {
  Settings settings = on_cpu();
  settings.ranks = 4;
  EXPECT_THAT(default_strategies(settings), Not(Contains(Strategy::kHybridShard)));
  settings.simulate_link = "latency_us=200,gbit_per_s=1,nodes=2";
  EXPECT_THAT(default_strategies(settings), Contains(Strategy::kHybridShard));
  EXPECT_THAT(default_strategies(settings), Contains(Strategy::kHybridShardZero2));
  settings.simulate_link = "latency_us=200,gbit_per_s=1,nodes=1";
  EXPECT_THAT(default_strategies(settings), Not(Contains(Strategy::kHybridShard)));
}

// A knob that only some strategies obey is known to leave what is learnt as it is, or to change it.
TEST(SearchSpace, KnowsOfEveryKnobOfAStrategyWhetherItChangesLearning) {
  const std::set<std::string_view> layout{"bucket_cap_mb",
                                          "first_bucket_mb",
                                          "gradient_as_bucket_view",
                                          "static_graph",
                                          "find_unused_parameters",
                                          "overlap_comm",
                                          "shard_group_size",
                                          "wrap_policy",
                                          "min_num_params",
                                          "backward_prefetch",
                                          "forward_prefetch",
                                          "limit_all_gathers",
                                          "cpu_offload",
                                          "reshard_after_forward",
                                          "separate_communicators",
                                          "sync_module_states",
                                          "use_orig_params"};
  for (const auto& knob : trace::job::knobs()) {
    if (knob.applies_to.empty()) continue;
    EXPECT_NE(layout.contains(knob.name), changes_learning(knob)) << knob.name;
  }
}

TEST(SearchSpace, DropsWhatContradictsAnotherStrategy) {
  Settings base = on_cpu(Strategy::kFullShard);
  base.reshard_after_forward = trace::job::AutoBool::kTrue;
  const auto points = default_points(base, Goal::kStepTime);
  ASSERT_TRUE(points);
  for (const auto& job : sweep::jobs_of(*points, {})) EXPECT_TRUE(job) << job.error().message;
}

TEST(SearchSpace, OfOneRankHasOnlyWhatMattersToIt) {
  Settings base = on_cpu();
  base.ranks = 1;
  const auto nothing = default_points(base, Goal::kStepTime);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_EQ(default_settings(base, Goal::kMemory).size(), 4u);
}

TEST(SearchSpace, IsCalledByItsGoalOrByWhatVaries) {
  EXPECT_EQ(default_name(Goal::kMemory, {}), "tune for memory");
  EXPECT_EQ(default_name(Goal::kMemory, {"bucket_cap_mb=1,2", "ranks=2"}),
            "tune bucket_cap_mb ranks");
  const std::vector<std::string> many(20, "gradient_accumulation_steps=1");
  EXPECT_TRUE(sweep::check_sweep_name(default_name(Goal::kMemory, many) + " 100"));
}

}  // namespace
}  // namespace shardlens::app::search
