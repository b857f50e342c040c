#include "app/cli/job/run_monitor.h"

#include <cmath>
#include <limits>
#include <utility>

#include "trace/analysis/steps/rank_activity.h"

namespace shardlens::app::cli {
namespace {

// The weight of the newest step in the shown step time.
constexpr double kNewest = 0.25;

}  // namespace

RunMonitor::RunMonitor(std::filesystem::path folder, const trace::model::RunInfo& run)
    : files_(std::move(folder), run, [this](const auto& batch) { take(batch); }) {
  progress_.steps_total = run.settings.epochs > 0 ? 0 : run.settings.steps;
  progress_.loss = std::numeric_limits<double>::quiet_NaN();
}

void RunMonitor::take(const trace::model::Batch& batch) {
  for (const auto& step : batch.steps) {
    if (step.rank != 0 || step.index < progress_.steps_done) continue;
    // What a damaged file says.
    if (!trace::analysis::RankActivity::is_plausible_step(step.index) ||
        !trace::base::is_plausible_time(step.start_ns, step.end_ns)) {
      continue;
    }
    const auto duration = static_cast<double>(step.end_ns - step.start_ns);
    progress_.step_ns =
        progress_.step_ns == 0 ? duration : (1 - kNewest) * progress_.step_ns + kNewest * duration;
    progress_.steps_done = step.index + 1;
    if (!std::isnan(step.loss) || step.nonfinite) progress_.loss = step.loss;
  }
}

}  // namespace shardlens::app::cli
