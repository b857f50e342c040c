#include "app/session/jobs/job_progress.h"

#include <algorithm>

#include "trace/model/run_info.h"

namespace shardlens::app::session {

namespace {
constexpr std::size_t kPaceSteps = 30;
}

JobProgress progress_of(const trace::analysis::RunFigures& figures) {
  JobProgress progress;
  progress.step = figures.summary.steps_executed;
  const bool is_told =
      trace::model::has_settings(figures.info) && figures.info.settings.epochs == 0;
  if (is_told) progress.steps = figures.info.settings.steps;
  const auto& steps = figures.steps;
  if (steps.size() < 2 || progress.steps == 0) return progress;
  const auto window = std::min(kPaceSteps, steps.size() - 1);
  const auto& last = steps.back();
  const auto& first = steps[steps.size() - 1 - window];
  const double pace_s =
      static_cast<double>(last.end_ns - first.end_ns) / 1e9 / static_cast<double>(window);
  const auto left = std::max<std::int64_t>(0, progress.steps - progress.step);
  progress.seconds_left = pace_s * static_cast<double>(left);
  return progress;
}

}  // namespace shardlens::app::session
