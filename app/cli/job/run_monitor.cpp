#include "app/cli/job/run_monitor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "trace/analysis/steps/rank_activity.h"

namespace shardlens::app::cli {
namespace {

// The weight of the newest step in the shown step time.
constexpr double kNewest = 0.25;
// After an error.
constexpr std::chrono::seconds kShortestPause{1};
constexpr std::chrono::seconds kLongestPause{10};

}  // namespace

RunMonitor::RunMonitor(std::filesystem::path folder, const trace::model::RunInfo& run)
    : folder_(std::move(folder)),
      watch_(run.world_size, std::chrono::seconds(run.settings.collective_timeout_s)) {
  progress_.steps_total = run.settings.epochs > 0 ? 0 : run.settings.steps;
  progress_.loss = std::numeric_limits<double>::quiet_NaN();
}

void RunMonitor::look(const launch::JobStatus& job) {
  if (!reader_) {
    auto reader = trace::store::RunReader::open(folder_);
    if (!reader) return;
    reader_ = std::move(*reader);
  }
  for (const auto& exit : job.exits) watch_.rank_ended(exit.rank);
  if (launch::HangWatch::Clock::now() < next_look_) return;
  for (bool more = true; more;) {
    const auto batches = reader_->poll();
    if (!batches) {
      // A file in the making; a damaged one is reported once the job has ended.
      pause_ =
          std::clamp<launch::HangWatch::Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
      next_look_ = launch::HangWatch::Clock::now() + pause_;
      return;
    }
    for (const auto& batch : *batches) take(batch);
    more = !batches->empty();
  }
  pause_ = {};
}

void RunMonitor::take(const trace::model::Batch& batch) {
  watch_.add(batch, launch::HangWatch::Clock::now());
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
