#include "app/session/watch/current_job.h"

#include <algorithm>
#include <utility>

#include "trace/model/run_info.h"
#include "ui/present/job_text.h"

namespace shardlens::app::session {

using ui::state::JobPhase;

namespace {

constexpr std::size_t kPaceSteps = 30;

// The time left follows the pace of the last steps, what lies between them included.
void add_progress(const trace::analysis::RunFigures& figures, ui::state::JobState& job) {
  job.step = ui::present::steps_reached(figures);
  const bool is_told =
      trace::model::has_settings(figures.info) && figures.info.settings.epochs == 0;
  if (is_told) job.steps = figures.info.settings.steps;
  const auto& steps = figures.steps;
  if (steps.size() < 2 || job.steps == 0) return;
  const auto window = std::min(kPaceSteps, steps.size() - 1);
  const auto& last = steps.back();
  const auto& first = steps[steps.size() - 1 - window];
  const double pace_s =
      static_cast<double>(last.end_ns - first.end_ns) / 1e9 / static_cast<double>(window);
  const auto left = std::max<std::int64_t>(0, job.steps - job.step);
  job.seconds_left = pace_s * static_cast<double>(left);
}

}  // namespace

CurrentJob::CurrentJob(StartJob start, Notice& notice, const std::function<void()>& on_change)
    : watcher_(on_change), queue_(std::move(start), notice, on_change) {}

CurrentJob::News CurrentJob::follow() {
  News news;
  const auto watch = watcher_.state()->version;
  news.is_any = std::exchange(seen_watch_, watch) != watch;
  auto now = queue_.state();
  if (now.version == state_.version) return news;
  const auto before = std::exchange(state_, std::move(now));
  watcher_.set_own_job(recorded_folder());
  news = {true, state_.started != before.started, state_.ended != before.ended,
          state_.phase == JobPhase::kNone};
  if (news.has_started || news.is_idle) watcher_.show({});
  return news;
}

std::filesystem::path CurrentJob::recorded_folder() const {
  // The queue leaves these phases only once the run's file says how it ended.
  const bool runs = state_.phase == JobPhase::kRunning || state_.phase == JobPhase::kStopping;
  return runs ? state_.folder : std::filesystem::path();
}

// Null until there is any.
std::shared_ptr<const ui::state::RunView> CurrentJob::view(const WatchState& on_screen) {
  if (state_.folder.empty() || state_.phase == JobPhase::kNone) return nullptr;
  const auto beside = watcher_.state();
  if (on_screen.run == state_.folder && !on_screen.replay.active) {
    if (!beside->run.empty()) watcher_.show({});
    return on_screen.view;
  }
  if (beside->run != state_.folder) {
    watcher_.show(state_.folder);
    return nullptr;
  }
  return beside->view;
}

std::shared_ptr<const ui::state::RunView> CurrentJob::take_new_view(const WatchState& on_screen) {
  auto now = view(on_screen);
  if (!now || now == taken_view_) return nullptr;
  taken_view_ = now;
  return now;
}

std::vector<std::string> CurrentJob::names() const {
  std::vector<std::string> names;
  if (state_.phase != JobPhase::kNone) names.push_back(state_.run_name);
  for (const auto& job : state_.queued) names.push_back(job.name);
  return names;
}

ui::state::JobState CurrentJob::state(const WatchState& on_screen) {
  ui::state::JobState job;
  job.phase = state_.phase;
  job.run_name = state_.run_name;
  job.folder = recorded_folder().string();
  job.queued = state_.queued;
  if (job.phase == JobPhase::kNone || job.phase == JobPhase::kStarting) return job;
  job.saves_checkpoints = state_.saves_checkpoints;
  if (const auto shown = view(on_screen)) add_progress(shown->figures, job);
  return job;
}

}  // namespace shardlens::app::session
