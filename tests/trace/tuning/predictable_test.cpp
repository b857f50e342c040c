#include "trace/tuning/predictable.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

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
  EXPECT_NE(why_not([](auto& figures) { figures.info.imported_from = "kineto"; }).find("settings"),
            std::string::npos);
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

TEST(Predictable, ListsWhatActsOnAStep) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = 4;
  next.steps += 100;  // makes none longer
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_TRUE(changes) << changes.error().message;
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ(changes->front().knob->name, "bucket_cap_mb");
  EXPECT_EQ(changes->front().before, "1");
  EXPECT_EQ(changes->front().after, "4");
}

TEST(Predictable, RefusesByName) {
  const RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.sequence_length *= 2;
  const auto changes = changes_to(job.figures.info, next);
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("sequence_length"), std::string::npos);
  next = job.figures.info.settings;
  next.simulate_link = "fast";
  EXPECT_FALSE(changes_to(job.figures.info, next)) << "not a link";
}

}  // namespace
}  // namespace shardlens::trace::tuning
