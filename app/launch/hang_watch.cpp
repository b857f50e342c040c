#include "app/launch/hang_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trace/base/median.h"
#include "trace/base/this_machine.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::launch {
namespace {

using namespace std::chrono_literals;

// A recorder writes several times a second. One that is silent has not stopped its job (its disk
// may be full), unless the whole process stands still.
constexpr auto kSilence = 5s;
constexpr auto kShortestHang = 10s;
// Models and libraries are loaded, however short collectives are to be; on a busy machine for long.
constexpr auto kLongestStart = 60s;
constexpr int kStepsToHang = 10;
constexpr std::size_t kRemembered = 101;

std::string seconds_text(HangWatch::Clock::duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

std::string place_text(const trace::model::Heartbeat& beat) {
  if (beat.step < 0) return " before its first step";
  const std::string step = " in step " + std::to_string(beat.step);
  if (beat.phase == trace::base::Phase::kOther) return step;
  return step + " (" + std::string(trace::base::to_string(beat.phase)) + ")";
}

}  // namespace

bool process_is_suspended(std::int64_t process) {
  return trace::base::process_stat(process).starts_with('T');
}

HangWatch::HangWatch(int world_size, std::chrono::seconds patience,
                     std::function<bool(std::int64_t)> is_suspended)
    : ranks_(static_cast<std::size_t>(std::max(0, world_size))),
      patience_(patience),
      is_suspended_(std::move(is_suspended)) {}

HangWatch::Rank* HangWatch::find(int rank) {
  const bool known = rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size();
  return known ? &ranks_[static_cast<std::size_t>(rank)] : nullptr;
}

void HangWatch::add(const trace::model::Batch& batch, Clock::time_point now) {
  for (const auto& step : batch.steps) {
    if (step.start_ns < 0 || step.end_ns < step.start_ns) continue;  // a damaged file
    if (recent_steps_ns_.size() < kRemembered) recent_steps_ns_.push_back(0);
    recent_steps_ns_[next_] = step.end_ns - step.start_ns;
    next_ = (next_ + 1) % kRemembered;
    if (Rank* rank = find(step.rank)) rank->stepped = true;
  }
  if (batch.rank_info) {
    if (Rank* rank = find(batch.rank_info->rank)) rank->process = batch.rank_info->process_id;
  }
  if (!batch.heartbeat) return;
  const auto& beat = *batch.heartbeat;
  Rank* rank = find(beat.rank);
  if (rank == nullptr) return;
  if (!rank->seen || beat.alive_ns != rank->last.alive_ns) rank->alive_since = now;
  if (!rank->seen || beat.progress_ns != rank->last.progress_ns) rank->progress_since = now;
  rank->last = beat;
  rank->seen = true;
}

void HangWatch::rank_ended(int rank) {
  if (Rank* ended = find(rank)) *ended = {};
}

std::chrono::nanoseconds hang_limit(double median_step_ns, bool has_stepped,
                                    trace::base::Phase phase, std::chrono::seconds patience) {
  using std::chrono::nanoseconds;
  using trace::base::Phase;
  static const std::chrono::seconds kDefault(trace::job::Settings{}.collective_timeout_s);
  const bool has_no_usual_length =
      !has_stepped || phase == Phase::kEvaluation || phase == Phase::kCheckpoint;
  const auto of_steps = nanoseconds(static_cast<std::int64_t>(kStepsToHang * median_step_ns));
  const auto limit = std::max<nanoseconds>(has_stepped ? kShortestHang : kLongestStart, of_steps);
  const bool waits = has_no_usual_length || patience != kDefault;
  return waits ? std::max<nanoseconds>(limit, patience) : limit;
}

HangWatch::Clock::duration HangWatch::limit_of(const Rank& rank) const {
  const auto& steps = recent_steps_ns_;
  const std::int64_t median_ns = steps.empty() ? 0 : trace::base::upper_median(steps);
  return hang_limit(static_cast<double>(median_ns), rank.stepped, rank.last.phase, patience_);
}

std::optional<std::string> HangWatch::check(Clock::time_point now) const {
  const Rank* stuck = nullptr;
  for (const auto& rank : ranks_) {
    if (!rank.seen) continue;
    if (now - rank.alive_since >= kSilence) {
      // The others only wait for it.
      if (rank.process > 0 && is_suspended_(rank.process)) {
        return "rank " + std::to_string(rank.last.rank) + " has been suspended for " +
               seconds_text(now - rank.alive_since) + " (SIGSTOP)";
      }
      continue;
    }
    if (now - rank.progress_since < limit_of(rank)) continue;
    // The one that stopped moving first is the one for which the others wait.
    if (!stuck || rank.last.progress_ns < stuck->last.progress_ns) stuck = &rank;
  }
  if (stuck == nullptr) return std::nullopt;
  return "rank " + std::to_string(stuck->last.rank) + " hangs: no progress for " +
         seconds_text(now - stuck->progress_since) + place_text(stuck->last);
}

namespace {

// After an error.
constexpr std::chrono::seconds kShortestPause{1};
constexpr std::chrono::seconds kLongestPause{10};

}  // namespace

HangMonitor::HangMonitor(std::filesystem::path folder, const trace::model::RunInfo& run,
                         std::function<void(const trace::model::Batch&)> take)
    : folder_(std::move(folder)),
      take_(std::move(take)),
      watch_(run.world_size, std::chrono::seconds(run.settings.collective_timeout_s)) {}

std::optional<std::string> HangMonitor::look(const JobStatus& job) {
  if (HangWatch::Clock::now() >= next_look_) read();
  for (const auto& exit : job.exits) watch_.rank_ended(exit.rank);
  return watch_.check(HangWatch::Clock::now());
}

void HangMonitor::read() {
  if (!reader_) {
    auto reader = trace::store::RunReader::open(folder_);
    if (!reader) return;
    reader_ = std::move(*reader);
  }
  const auto done = reader_->read_pulse([this](const auto& batch) {
    watch_.add(batch, HangWatch::Clock::now());
    if (take_) take_(batch);
  });
  // A file in the making; a damaged one is reported once the job has ended.
  pause_ = done ? HangWatch::Clock::duration{}
                : std::clamp<HangWatch::Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
  next_look_ = HangWatch::Clock::now() + pause_;
}

}  // namespace shardlens::app::launch
