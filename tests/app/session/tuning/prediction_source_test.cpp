// Five runs of two ranks that shared an H200, each predicted from each: what they took is known.
#include "app/session/tuning/prediction_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/session/runs/library_run.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::session {
namespace {

struct RecordedRun {
  std::string name;
  trace::job::Settings settings;
  std::shared_ptr<const trace::tuning::Predictor> predictor;
  double step_ns = 0;
  bool has_buckets = false;
};

RecordedRun run_of(const std::string& name) {
  const std::filesystem::path file =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / ("h200_" + name + ".shardlens");
  RecordedRun run{name, {}, *learn_run(file)};
  run.settings = read_run_figures(file)->info.settings;
  run.step_ns = run.predictor->predict(run.settings)->step_ns;
  run.has_buckets = run.settings.sharding_strategy == trace::job::Strategy::kDdp;
  return run;
}

TEST(SharedGpu, TellsWhatOtherBucketsAndUnitsTook) {
  std::vector<RecordedRun> runs;
  for (const char* name :
       {"ddp_cap_25", "ddp_cap_4", "ddp_cap_1", "full_shard", "full_shard_no_prefetch"}) {
    runs.push_back(run_of(name));
  }
  for (const RecordedRun& from : runs) {
    for (const RecordedRun& to : runs) {
      if (&from == &to) continue;
      const auto prediction = from.predictor->predict(to.settings);
      ASSERT_TRUE(prediction) << prediction.error().message;
      const double off = std::abs(prediction->step_ns / to.step_ns - 1);
      EXPECT_LE(off, from.has_buckets && to.has_buckets ? 0.01 : 0.08)
          << to.name << " from " << from.name << ": " << prediction->step_ns / 1e6 << " ms, took "
          << to.step_ns / 1e6;
    }
  }
}

}  // namespace
}  // namespace shardlens::app::session
