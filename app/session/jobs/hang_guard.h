// Tells from the figures of a running job that one of its ranks hangs. One owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/launch/hang_watch.h"
#include "app/launch/job_session.h"
#include "trace/analysis/figures/figures.h"

namespace shardlens::app::session {

class HangGuard {
 public:
  explicit HangGuard(const trace::model::RunInfo& run);

  void look(const trace::analysis::RunFigures& figures, launch::HangWatch::Clock::time_point now);
  // The reason why the job should end; at most once.
  std::optional<std::string> check(const launch::JobStatus& job,
                                   launch::HangWatch::Clock::time_point now);

 private:
  launch::HangWatch watch_;
  std::int64_t steps_seen_ = 0;
  bool reported_ = false;
};

}  // namespace shardlens::app::session
