#include "trace/tuning/predictable.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/trace/tuning/recorded_job.h"

namespace shardlens::trace::tuning {
namespace {

std::string why_not(const std::function<void(analysis::RunFigures&)>& change) {
  RecordedJob job;
  change(job.figures);
  const auto checked = check_run(job.figures);
  return checked ? "" : checked.error().message;
}

TEST(Predictable, IsARunOfSeveralRanks) {
  EXPECT_EQ(why_not([](analysis::RunFigures&) {}), "");
  EXPECT_EQ(why_not([](auto& figures) {
              figures.info.settings.sharding_strategy = job::Strategy::kFullShard;
              figures.info.settings.find_unused_parameters = true;  // which it does not obey
            }),
            "");
  EXPECT_EQ(why_not([](auto& figures) { figures.info.device = "cuda"; }), "");
  const auto full_shard_on_gpu = [](analysis::RunFigures& figures) {
    figures.info.device = "cuda";
    figures.info.settings.sharding_strategy = job::Strategy::kFullShard;
  };
  EXPECT_EQ(why_not(full_shard_on_gpu), "");
  EXPECT_NE(why_not([&](auto& figures) {
              full_shard_on_gpu(figures);
              figures.info.settings.cpu_offload = true;
            }).find("cpu_offload"),
            std::string::npos);
  EXPECT_NE(why_not([](auto& figures) { figures.info.world_size = 1; }).find("One rank"),
            std::string::npos);
  EXPECT_NE(why_not([](auto& figures) {
              figures.info.settings.communication = job::Communication::kNone;
            }).find("communication: none"),
            std::string::npos);
  EXPECT_NE(why_not([](auto& figures) {
              figures.info.settings.find_unused_parameters = true;
            }).find("find_unused_parameters"),
            std::string::npos);
  EXPECT_NE(why_not([](auto& figures) {
              figures.ranks.resize(2);
              for (auto& rank : figures.ranks) rank.info.device = "cpu";
              figures.ranks[1].info.host = "other";
            }).find("several machines"),
            std::string::npos);
  EXPECT_NE(why_not([](auto& figures) {
              figures.ranks.resize(2);
              figures.ranks[0].info.device = "cpu";
              figures.ranks[0].info.host = "here";
            }).find("Of 2 ranks 1 left nothing"),
            std::string::npos);
}

TEST(Predictable, IsARunSoonAfterItHasStarted) {
  const auto why = why_not([](auto& figures) {
    figures.info.status = model::RunStatus::kRunning;
    figures.ranks.resize(2);
  });
  EXPECT_NE(why.find("The run is starting."), std::string::npos) << why;
  EXPECT_EQ(why.find("left nothing"), std::string::npos) << "no rank could have left anything";
}

std::vector<std::string_view> names_of(const std::vector<const job::Knob*>& knobs) {
  std::vector<std::string_view> names;
  for (const auto* knob : knobs) names.push_back(knob->name);
  return names;
}

TEST(Predictable, ListsWhatActsOnAStep) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = 4;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  ASSERT_EQ(changes->known.size(), 2u);
  EXPECT_EQ(changes->known.front().knob->name, "bucket_cap_mb");
  EXPECT_EQ(changes->known.front().before, "1");
  EXPECT_EQ(changes->known.front().after, "4");
  EXPECT_TRUE(changes->unknown.empty());
  EXPECT_TRUE(changes->without_effect.empty());
}

TEST(Predictable, NamesWhatHasNoEffectOnAStep) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.steps += 100;
  next.learning_rate *= 2;
  next.max_grad_norm = 2 * next.max_grad_norm;  // clipped as before
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_TRUE(changes->known.empty());
  EXPECT_TRUE(changes->unknown.empty());
  EXPECT_EQ(names_of(changes->without_effect),
            (std::vector<std::string_view>{"steps", "learning_rate", "max_grad_norm"}));
}

// No norm is worked out any more, and how long that took is not known.
TEST(Predictable, LeavingWorkOutIsNotWithoutEffect) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  ASSERT_GT(next.max_grad_norm, 0);
  next.max_grad_norm = 0;
  EXPECT_EQ(names_of(changes_to(job.figures.info, next)->unknown),
            std::vector<std::string_view>{"max_grad_norm"});
}

TEST(Predictable, LeavesOutByNameWhatIsNotKnown) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = 4;
  ASSERT_TRUE(job::set_value(next, "precision", "bf16"));
  next.gradient_as_bucket_view = !next.gradient_as_bucket_view;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(changes->known.front().knob->name, "bucket_cap_mb");
  EXPECT_EQ(names_of(changes->unknown),
            (std::vector<std::string_view>{"gradient_as_bucket_view", "precision"}));
  EXPECT_EQ(changes->settings.bucket_cap_mb, 4);
  EXPECT_EQ(changes->settings.precision, job.figures.info.settings.precision);
  const auto refused = refuse_unknown(changes->unknown);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("gradient_as_bucket_view and precision"),
            std::string::npos);
  EXPECT_LT(refused.error().message.size(), 160u) << "it stands in a card";
}

TEST(Predictable, RefusesAnotherJob) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.model = "small";
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("another model"), std::string::npos);
  next = job.figures.info.settings;
  next.simulate_link = "fast";
  EXPECT_FALSE(changes_to(job.figures.info, next)) << "not a link";
}

TEST(Predictable, NamesWhatMakesTheJobAnotherOne) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = 4;
  next.weight_decay = 0;
  EXPECT_EQ(other_job_knob(job.figures.info, next), "") << "known or not";
  next.model = "small";
  EXPECT_EQ(other_job_knob(job.figures.info, next), "model");
  next.device = job::DeviceChoice::kCuda;
  EXPECT_EQ(other_job_knob(job.figures.info, next), "device");
}

TEST(Predictable, RefusesAnotherDevice) {
  const RecordedJob job;
  ASSERT_EQ(job.figures.info.device, "cpu");
  job::Settings next = job.figures.info.settings;
  next.device = job::DeviceChoice::kCuda;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("another device"), std::string::npos);
  for (const auto same : {job::DeviceChoice::kCpu, job::DeviceChoice::kAuto}) {
    next.device = same;
    ASSERT_TRUE(changes_to(job.figures.info, next));
    EXPECT_TRUE(changes_to(job.figures.info, next)->known.empty());
  }
}

TEST(Predictable, IsAnotherLinkOfAGpu) {
  RecordedJob job;
  job.figures.info.device = "cuda";
  job.figures.info.settings.device = job::DeviceChoice::kCuda;
  job::Settings next = job.figures.info.settings;
  next.simulate_link = "latency_us=5,gbit_per_s=100,nodes=2";
  EXPECT_FALSE(job::validate(next)) << "nobody can train so";
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  ASSERT_EQ(changes->known.size(), 1u);
  EXPECT_EQ(changes->known[0].knob->name, "simulate_link");
}

TEST(Predictable, IsAnotherDivisionIntoUnitsButNotAnotherTraining) {
  RecordedJob job;
  job::Settings& recorded = job.figures.info.settings;
  recorded.sharding_strategy = job::Strategy::kFullShard;
  recorded.lora_rank = 4;
  job::Settings next = recorded;
  next.wrap_policy = job::WrapPolicy::kSize;
  next.min_num_params = 1000;
  next.reduce_dtype = job::DataType::kBf16;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  std::set<std::string_view> known;
  for (const Change& change : changes->known) known.insert(change.knob->name);
  EXPECT_EQ(known, (std::set<std::string_view>{"wrap_policy", "min_num_params", "reduce_dtype"}));
  next.lora_rank = 8;
  EXPECT_FALSE(changes_to(job.figures.info, next));
}

// From a run of full_shard that sets `knob`, to ddp, with it as it is.
base::Result<Changes> changes_to_ddp(const char* knob, const char* value) {
  RecordedJob job;
  job::Settings& recorded = job.figures.info.settings;
  recorded.sharding_strategy = job::Strategy::kFullShard;
  EXPECT_TRUE(job::set_value(recorded, knob, value));
  job::Settings next = recorded;
  next.sharding_strategy = job::Strategy::kDdp;
  return changes_to(job.figures.info, next);
}

TEST(Predictable, RefusesAStrategyThatComputesInAnotherType) {
  const auto changes = changes_to_ddp("param_dtype", "bf16");
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("another param_dtype"), std::string::npos);
  EXPECT_TRUE(changes_to_ddp("param_dtype", "fp32")) << "in which ddp computes, too";
  RecordedJob job;
  job.figures.info.settings.param_dtype = job::DataType::kBf16;  // which ddp does not obey
  job::Settings next = job.figures.info.settings;
  next.sharding_strategy = job::Strategy::kFullShard;
  EXPECT_FALSE(changes_to(job.figures.info, next));
  next.sharding_strategy = job::Strategy::kZero1;
  EXPECT_TRUE(changes_to(job.figures.info, next));
}

TEST(Predictable, RefusesAStrategyThatLooksForUnusedParameters) {
  const auto changes = changes_to_ddp("find_unused_parameters", "true");
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("find_unused_parameters"), std::string::npos);
}

TEST(Predictable, WhatOnlyOneStrategyObeysIsAPartOfTheirDifference) {
  for (const char* knob : {"gradient_as_bucket_view", "static_graph"}) {
    RecordedJob job;
    ASSERT_TRUE(job::set_value(job.figures.info.settings, knob, "true"));
    job::Settings next = job.figures.info.settings;
    next.sharding_strategy = job::Strategy::kFullShard;
    const auto changes = changes_to(job.figures.info, next);
    ASSERT_TRUE(changes) << changes.error().message;
    EXPECT_EQ(names_of(changes->unknown), std::vector<std::string_view>{}) << knob;
    EXPECT_EQ(names_of(changes_to_ddp(knob, "true")->unknown), std::vector<std::string_view>{})
        << knob;
  }
}

TEST(Predictable, LeavesATypeOutThatIsAskedForBesideAStrategy) {
  RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.sharding_strategy = job::Strategy::kFullShard;
  next.param_dtype = job::DataType::kBf16;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(names_of(changes->unknown), std::vector<std::string_view>{"param_dtype"});
  EXPECT_EQ(changes->settings.param_dtype, job.figures.info.settings.param_dtype);
}

TEST(Predictable, KnowsNoKnobTwice) {
  for (const job::Knob& knob : job::knobs()) {
    EXPECT_FALSE(is_predictable(knob) && is_without_effect(knob)) << knob.name;
  }
  EXPECT_TRUE(is_without_effect(*job::find_knob("learning_rate")));
  EXPECT_FALSE(is_without_effect(*job::find_knob("record"))) << "recording takes time";
}

}  // namespace
}  // namespace shardlens::trace::tuning
