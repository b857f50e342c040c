#include "app/session/jobs/hang_guard.h"

#include <algorithm>
#include <chrono>

namespace shardlens::app::session {

HangGuard::HangGuard(const trace::model::RunInfo& run)
    : watch_(run.world_size, std::chrono::seconds(run.settings.collective_timeout_s)) {}

void HangGuard::look(const trace::analysis::RunFigures& figures,
                     launch::HangWatch::Clock::time_point now) {
  for (const auto& rank : figures.ranks) {
    trace::model::Batch batch;
    if (rank.heartbeat.alive_ns != 0) batch.heartbeat = rank.heartbeat;
    batch.rank_info = rank.info;
    watch_.add(batch, now);
  }
  trace::model::Batch steps;
  for (auto step = figures.steps.rbegin(); step != figures.steps.rend(); ++step) {
    if (step->index < steps_seen_) break;
    if (!step->complete) continue;
    for (std::size_t rank = 0; rank < step->ranks.size(); ++rank) {
      trace::model::Step seen;
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

std::optional<std::string> HangGuard::check(const launch::JobStatus& job,
                                            launch::HangWatch::Clock::time_point now) {
  for (const auto& exit : job.exits) watch_.rank_ended(exit.rank);
  if (reported_ || job.phase == launch::JobStatus::Phase::kEnded) return std::nullopt;
  auto reason = watch_.check(now);
  reported_ = reason.has_value();
  return reason;
}

}  // namespace shardlens::app::session
