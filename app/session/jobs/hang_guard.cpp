#include "app/session/jobs/hang_guard.h"

#include <algorithm>
#include <chrono>

namespace shardlens::app {

HangGuard::HangGuard(const trace::RunInfo& run)
    : watch_(run.world_size, std::chrono::seconds(run.settings.collective_timeout_s)) {}

void HangGuard::look(const trace::RunFigures& figures, HangWatch::Clock::time_point now) {
  for (const auto& rank : figures.ranks) {
    trace::Batch batch;
    if (rank.heartbeat.alive_ns != 0) batch.heartbeat = rank.heartbeat;
    batch.rank_info = rank.info;
    watch_.add(batch, now);
  }
  trace::Batch steps;
  for (auto step = figures.steps.rbegin(); step != figures.steps.rend(); ++step) {
    if (step->index < steps_seen_) break;
    if (!step->complete) continue;
    for (std::size_t rank = 0; rank < step->ranks.size(); ++rank) {
      trace::Step seen;
      seen.rank = static_cast<int>(rank);
      seen.index = step->index;
      seen.start_ns = step->start_ns;
      seen.end_ns = step->end_ns;
      steps.steps.push_back(seen);
    }
  }
  for (const auto& step : steps.steps) steps_seen_ = std::max(steps_seen_, step.index + 1);
  watch_.add(steps, now);
}

std::optional<std::string> HangGuard::check(const JobStatus& job,
                                            HangWatch::Clock::time_point now) {
  for (const auto& exit : job.exits) watch_.rank_ended(exit.rank);
  if (reported_ || job.phase != JobStatus::Phase::kRunning) return std::nullopt;
  auto reason = watch_.check(now);
  reported_ = reason.has_value();
  return reason;
}

}  // namespace shardlens::app
