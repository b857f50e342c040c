// A made-up run of three ranks, written through TraceWriter.
#pragma once

#include <cstdint>
#include <filesystem>

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
};

// `change`: to the run's description before it is written.
SyntheticRun write_synthetic_run(const std::filesystem::path& runs_dir,
                                 void (*change)(trace::model::RunInfo&) = nullptr);

}  // namespace shardlens::app::report
