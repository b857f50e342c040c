// A made-up run of three ranks, written through TraceWriter, with its rows kept for recomputation.
// All times are whole microseconds, so that a test may count microseconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trace/model/events.h"
#include "trace/model/run_info.h"

namespace shardlens::app::report {

struct SyntheticRun {
  static constexpr int kRanks = 3;
  static constexpr int kSteps = 9;
  static constexpr int kSkipped = 3;
  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  static constexpr std::int64_t kEnd = kStart + kSteps * 2'000'000 + 1'000'000;

  trace::model::RunInfo info;
  std::filesystem::path folder;
  std::vector<trace::model::Step> steps;
  std::vector<trace::model::Span> spans;
  std::vector<trace::model::Collective> collectives;
  std::vector<trace::model::Event> compute[kRanks], copies[kRanks], other_operators[kRanks];
  std::vector<trace::model::Bucket> buckets;  // of rank 0, both plans
  std::vector<trace::model::MemorySample> memory;
  std::vector<trace::model::RecorderCost> costs;
  std::vector<trace::model::Lost> lost;
  double peak_flops = 0;
};

// `change`: to the run's description before it is written.
SyntheticRun write_synthetic_run(const std::filesystem::path& runs_dir,
                                 void (*change)(trace::model::RunInfo&) = nullptr);

}  // namespace shardlens::app::report
