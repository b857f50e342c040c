#include "app/sweep/sweep_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace shardlens::app::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using trace::job::Settings;

std::vector<std::string> texts_of(const SweepPoints& points) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < points.settings.size(); ++i) texts.push_back(point_text(points, i));
  return texts;
}

std::vector<std::string> grid(const std::vector<std::string>& axes) {
  const auto points = grid_of({}, axes);
  return points ? texts_of(*points) : std::vector{"error: " + points.error().message};
}

Settings on_cpu() {
  Settings settings;
  settings.device = trace::job::DeviceChoice::kCpu;
  return settings;
}

TEST(SweepGrid, IsTheProductWithTheLastKeyChangingFastest) {
  EXPECT_THAT(grid({"bucket_cap_mb=1,25", "ranks=2,4"}),
              ElementsAre("bucket_cap_mb=1, ranks=2", "bucket_cap_mb=1, ranks=4",
                          "bucket_cap_mb=25, ranks=2", "bucket_cap_mb=25, ranks=4"));
}

TEST(SweepGrid, ValuesWithCommasAreSeparatedBySemicolons) {
  EXPECT_THAT(grid({"simulate_link=off;latency_us=50,gbps=1"}),
              ElementsAre("simulate_link=off", "simulate_link=latency_us=50,gbit_per_s=1"));
  EXPECT_THAT(grid({"simulate_link=latency_us=50,gbps=1"}),
              ElementsAre("simulate_link=latency_us=50,gbit_per_s=1"));
}

TEST(SweepGrid, AKeyThatComesAgainAddsValues) {
  EXPECT_THAT(grid({"ranks=2", "ranks=4"}), ElementsAre("ranks=2", "ranks=4"));
}

// Each has values of its own.
TEST(SweepGrid, AnotherNameOfAKeyAddsValues) {
  const auto both = ElementsAre("sharding_strategy=ddp", "sharding_strategy=full_shard");
  EXPECT_THAT(grid({"strategy=ddp", "zero_stage=3"}), both);
  EXPECT_THAT(grid({"zero_stage=0", "sharding_strategy=full_shard"}), both);
  EXPECT_THAT(grid({"zero_stage=0", "strategy=ddp"}), ElementsAre(HasSubstr("twice")));
}

TEST(SweepGrid, KnowsWhereFilesWereFromWhereverItGoesOn) {
  Settings base;
  base.data = "texts";
  const auto points = grid_of(base, {"evaluation_data=held_out,split"});
  ASSERT_TRUE(points) << points.error().message;
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(points->settings[0].data, here / "texts");
  EXPECT_EQ(points->settings[0].evaluation_data, here / "held_out");
  EXPECT_EQ(points->settings[1].evaluation_data, "split");
}

TEST(SweepGrid, RefusesWhatCannotBeMeant) {
  EXPECT_THAT(grid({"bucket_cap=1"}), ElementsAre(HasSubstr("bucket_cap_mb")));
  EXPECT_THAT(grid({"ranks=2,many"}), ElementsAre(HasSubstr("many")));
  EXPECT_THAT(grid({"ranks"}), ElementsAre(HasSubstr("key=value")));
  EXPECT_THAT(grid({"=2"}), ElementsAre(HasSubstr("key=value")));
  EXPECT_THAT(grid({"ranks="}), ElementsAre(HasSubstr("error")));
  EXPECT_THAT(grid({"ranks=2,,4"}), ElementsAre(HasSubstr("error")));
  EXPECT_THAT(grid({"ranks=2,4,2"}), ElementsAre(AllOf(HasSubstr("twice"), HasSubstr("ranks=2"))));
}

TEST(SweepGrid, RefusesMorePointsThanAnybodyCouldRun) {
  std::string values = "seed=1";
  for (int i = 2; i <= 40; ++i) values += "," + std::to_string(i);
  std::string steps = "steps=11";
  for (int i = 12; i <= 40; ++i) steps += "," + std::to_string(i);
  EXPECT_THAT(grid({values, steps}), ElementsAre(HasSubstr("more than 1,000 points")));
}

TEST(SweepList, EachPointChangesTheJobByItself) {
  Settings base;
  base.steps = 7;
  const auto points = points_of(base, {{{"ranks", "4"}}, {{"bucket_cap_mb", "1"}}});
  ASSERT_TRUE(points) << points.error().message;
  EXPECT_EQ(points->settings[1].ranks, Settings{}.ranks);
  EXPECT_EQ(points->settings[1].steps, 7);
  EXPECT_THAT(texts_of(*points),
              ElementsAre("ranks=4, bucket_cap_mb=25", "ranks=2, bucket_cap_mb=1"));
  EXPECT_FALSE(points_of(base, {}));
  EXPECT_FALSE(points_of(base, {{{"ranks", "4"}}, {{"ranks", "4"}}}));
}

TEST(SweepJobs, AContradictionIsThatOfItsPoint) {
  const auto points = grid_of(on_cpu(), {"sharding_strategy=ddp,full_shard", "static_graph=true"});
  ASSERT_TRUE(points);
  auto settings = points->settings;
  SweepPoints mixed = *points;
  mixed.settings[0].sharding_strategy = trace::job::Strategy::kFullShard;
  mixed.settings[0].reshard_after_forward = trace::job::AutoBool::kFalse;
  const auto jobs = jobs_of(mixed, {});
  ASSERT_FALSE(jobs[0]);
  EXPECT_EQ(jobs[0].error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_THAT(jobs[0].error().message, HasSubstr("reshard_after_forward"));
  EXPECT_TRUE(jobs[1]) << jobs[1].error().message;
}

TEST(SweepJobs, APointWithoutAMeasuredStepIsRefused) {
  const auto points = grid_of(on_cpu(), {"steps=3,4"});
  const auto jobs = jobs_of(*points, {});
  ASSERT_FALSE(jobs[0]);
  EXPECT_THAT(jobs[0].error().message, HasSubstr("skip_steps"));
  EXPECT_TRUE(jobs[1]);
}

TEST(SweepJobs, WhatNoStrategyObeysMakesADouble) {
  Settings sharded = on_cpu();
  sharded.sharding_strategy = trace::job::Strategy::kFullShard;
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(sharded, {"bucket_cap_mb=1,4"}), {})), ElementsAre(0, 0));
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(on_cpu(), {"bucket_cap_mb=1,4"}), {})),
              ElementsAre(0, 1));
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(on_cpu(), {"seed=1,2"}), {})), ElementsAre(0, 1));
}

// Without a GPU nothing is limited; what was not freed is not gathered again.
TEST(SweepJobs, WhatHasNoEffectMakesADouble) {
  Settings sharded = on_cpu();
  sharded.sharding_strategy = trace::job::Strategy::kFullShard;
  const auto limits = grid_of(sharded, {"limit_all_gathers=false,true"});
  EXPECT_THAT(doubles_of(jobs_of(*limits, {})), ElementsAre(0, 0));
  sharded.device = trace::job::DeviceChoice::kAuto;
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(sharded, {"device=auto,cpu"}), {})), ElementsAre(0, 0))
      << "there is no GPU";
  const auto ahead = grid_of(
      on_cpu(), {"sharding_strategy=shard_grad_op,full_shard", "backward_prefetch=pre,none"});
  EXPECT_THAT(doubles_of(jobs_of(*ahead, {})), ElementsAre(0, 0, 2, 3));
}

TEST(SweepJobs, WhatDependsOnAnotherSettingMakesADouble) {
  const auto powers = grid_of(on_cpu(), {"lr_schedule=cosine,polynomial", "lr_power=1,2"});
  EXPECT_THAT(doubles_of(jobs_of(*powers, {})), ElementsAre(0, 0, 2, 3));
  Settings passes = on_cpu();
  passes.epochs = 1;
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(passes, {"steps=30,40"}), {})), ElementsAre(0, 0));
}

// All are only measured.
TEST(SweepJobs, WhatTheyWouldSaveMakesADouble) {
  const auto saving = grid_of(on_cpu(), {"save_every=0,5", "checkpoint_format=full,sharded"});
  EXPECT_THAT(doubles_of(jobs_of(*saving, {})), ElementsAre(0, 0, 0, 0));
  const auto models = grid_of(on_cpu(), {"save_model=none,end", "checkpoint_on_stop=false,true"});
  EXPECT_THAT(doubles_of(jobs_of(*models, {})), ElementsAre(0, 0, 0, 0));
}

// Of 9.096 MiB of gradients. With a cap of 25 the first bucket has another, unless it is set.
TEST(SweepJobs, CapsThatNoGradientsReachAreDoubles) {
  const auto caps = grid_of(on_cpu(), {"bucket_cap_mb=8,9.1,16,25,100"});
  EXPECT_THAT(doubles_of(jobs_of(*caps, {})), ElementsAre(0, 1, 1, 3, 1));
  const auto small_first = grid_of(on_cpu(), {"first_bucket_mb=1,12,30", "bucket_cap_mb=25,64"});
  EXPECT_THAT(doubles_of(jobs_of(*small_first, {})), ElementsAre(0, 0, 2, 2, 2, 2));
  auto one_bucket = on_cpu();
  one_bucket.first_bucket_mb = 25;
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(one_bucket, {"bucket_cap_mb=1,4,100"}), {})),
              ElementsAre(0, 0, 0));
  one_bucket.sharding_strategy = trace::job::Strategy::kZero1;
  EXPECT_THAT(doubles_of(jobs_of(*grid_of(one_bucket, {"bucket_cap_mb=1,4"}), {})),
              ElementsAre(0, 1));
}

TEST(SweepPoints, AreToldByWhatTheirStrategyObeys) {
  const auto points =
      grid_of({}, {"sharding_strategy=ddp,full_shard", "bucket_cap_mb=4", "backward_prefetch=pre"});
  EXPECT_EQ(obeyed_text(*points, 0), "sharding_strategy=ddp, bucket_cap_mb=4");
  EXPECT_EQ(obeyed_text(*points, 1), "sharding_strategy=full_shard, backward_prefetch=pre");
}

TEST(SweepJobs, WhatIsLeftOutIsToldAndTheOthersKeepTheirOrder) {
  auto points = *grid_of(on_cpu(), {"steps=3,40,2", "limit_all_gathers=false,true"});
  auto jobs = jobs_of(points, {});
  EXPECT_THAT(
      leave_out_refused(points, jobs, 1),
      ElementsAre(StartsWith("steps=3: "), StartsWith("steps=2: "), StartsWith("steps=2: ")));
  EXPECT_THAT(texts_of(points),
              ElementsAre("steps=3, limit_all_gathers=false", "steps=40, limit_all_gathers=false",
                          "steps=40, limit_all_gathers=true"));
  EXPECT_EQ(leave_out_refused(points, jobs, 0).size(), 1u);
  EXPECT_THAT(leave_out_doubles(points, jobs),
              ElementsAre("steps=40, limit_all_gathers=true does the same as "
                          "steps=40, limit_all_gathers=false"));
  EXPECT_THAT(texts_of(points), ElementsAre("steps=40, limit_all_gathers=false"));
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0]->settings.steps, 40);
}

}  // namespace
}  // namespace shardlens::app::sweep
