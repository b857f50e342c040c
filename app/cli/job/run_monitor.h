// Follows a running job through its files: progress for the terminal, hangs for the launcher. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/launch/hang_monitor.h"
#include "app/launch/job_session.h"

namespace shardlens::app::cli {

struct RunProgress {
  std::int64_t steps_done = 0;
  std::int64_t steps_total = 0;  // 0: not known, as with epochs
  double step_ns = 0;            // of the last few, 0: none yet
  double loss = 0;               // of the last; NaN: not known
  // Of all that was asked for; none: this run is all, and its steps tell.
  std::optional<double> seconds_left;
};

class RunMonitor {
 public:
  RunMonitor(std::filesystem::path folder, const trace::model::RunInfo& run);

  // Reads what is new.
  void look(const launch::JobStatus& job) { files_.look(job); }
  const RunProgress& progress() const { return progress_; }
  std::optional<std::string> hang() const { return files_.hang(); }

 private:
  void take(const trace::model::Batch& batch);

  launch::HangMonitor files_;
  RunProgress progress_;
};

}  // namespace shardlens::app::cli
