#include "app/session/runs/run_liveness.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>

#include "trace/base/this_machine.h"

namespace shardlens::app::session {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kSilence = 10 * kSecond;
// Its launcher has this long to write how it ended after its last process has left.
constexpr std::int64_t kSilenceOfTheDead = 3 * kSecond;
constexpr std::int64_t kUntilFirstReport = 120 * kSecond;

// By the wall clock; none where /proc does not say.
std::optional<std::int64_t> process_start_ns(std::int64_t process) {
  std::istringstream fields(trace::base::process_stat(process));
  constexpr int kStartTime = 22, kFirst = 3;  // proc(5) counts from 1
  std::string field;
  for (int i = kFirst; i < kStartTime; ++i) fields >> field;
  std::int64_t ticks = 0;
  const long per_second = sysconf(_SC_CLK_TCK);
  timespec wall{}, boot{};
  if (!(fields >> ticks) || per_second <= 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0 ||
      clock_gettime(CLOCK_BOOTTIME, &boot) != 0) {
    return std::nullopt;
  }
  return (wall.tv_sec - boot.tv_sec) * kSecond + (wall.tv_nsec - boot.tv_nsec) +
         ticks * (kSecond / per_second);
}

// The process still runs and is not a later one that was given the same number.
bool lives(const RunLiveness::Process& process, std::int64_t alive_ns) {
  if (!trace::base::has_process(process.id)) return false;
  const auto start = process_start_ns(process.id);
  return !start || alive_ns == 0 || *start <= alive_ns + kSecond;
}

}  // namespace

bool is_written(const trace::model::RunInfo& info, std::int64_t now_ns) {
  return info.status == trace::model::RunStatus::kDone &&
         std::chrono::nanoseconds(now_ns - info.end_ns) > kReadOnAfterEnd;
}

RunLiveness liveness_of(const trace::analysis::RunFigures& figures) {
  RunLiveness liveness;
  liveness.status = figures.info.status;
  liveness.start_ns = figures.info.start_ns;
  liveness.world_size = figures.info.world_size;
  for (const auto& rank : figures.ranks) {
    liveness.alive_ns = std::max(liveness.alive_ns, rank.heartbeat.alive_ns);
    if (rank.info.process_id > 0) {
      liveness.processes.push_back({rank.info.host, rank.info.process_id});
    }
  }
  return liveness;
}

bool is_abandoned(const RunLiveness& liveness, std::int64_t now_ns) {
  if (liveness.status != trace::model::RunStatus::kRunning) return false;
  const std::string host = trace::base::host_name();
  const auto is_here = [&](const auto& process) { return process.host == host; };
  const bool all_here = !liveness.processes.empty() &&
                        static_cast<int>(liveness.processes.size()) >= liveness.world_size &&
                        std::ranges::all_of(liveness.processes, is_here);
  const bool any_lives = std::ranges::any_of(liveness.processes, [&](const auto& process) {
    return is_here(process) && lives(process, liveness.alive_ns);
  });
  if (any_lives) return false;
  if (liveness.alive_ns == 0 && !all_here) return now_ns - liveness.start_ns > kUntilFirstReport;
  const std::int64_t silence_ns = now_ns - liveness.alive_ns;
  // By the clock of this machine, which may have been set back since. Another's may go ahead.
  return all_here ? std::abs(silence_ns) > kSilenceOfTheDead : silence_ns > kSilence;
}

void mark_as_cut_off(trace::model::RunInfo& info) {
  info.status = trace::model::RunStatus::kFailed;
  info.reason =
      "The recording ends without a conclusion: the program that ran it was killed, or could not "
      "save how it ended (a full disk)";
}

}  // namespace shardlens::app::session
