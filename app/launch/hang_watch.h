// Tells from heartbeats that a rank hangs. Compares them with a steady clock of its own, so that
// neither a sleeping laptop nor a changed wall clock looks like a hang. One owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/launch/job_session.h"
#include "trace/model/batch.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::launch {

// Stopped by a signal, as by `kill -STOP`.
bool process_is_suspended(std::int64_t process);

// How long a rank may stand still: ten of its steps, at least ten seconds. `patience`, which is the
// setting collective_timeout_s, where that is more, for what has no usual length: evaluation,
// checkpoints, and, at least a minute, all until the first step's end; for everything once somebody
// set it to another value than the default.
std::chrono::nanoseconds hang_limit(double median_step_ns, bool has_stepped,
                                    trace::base::Phase phase, std::chrono::seconds patience);

class HangWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `patience`: as of hang_limit().
  HangWatch(int world_size, std::chrono::seconds patience,
            std::function<bool(std::int64_t process)> is_suspended = process_is_suspended);

  void add(const trace::model::Batch& batch, Clock::time_point now);
  void rank_ended(int rank);
  // The reason why the job should end: "rank 1 hangs: …"
  std::optional<std::string> check(Clock::time_point now) const;

 private:
  struct Rank {
    trace::model::Heartbeat last;
    Clock::time_point alive_since, progress_since;  // when the value last changed
    std::int64_t process = 0;
    bool seen = false;
    bool stepped = false;
  };
  Rank* find(int rank);
  Clock::duration limit_of(const Rank& rank) const;

  std::vector<Rank> ranks_;
  std::chrono::seconds patience_;
  std::function<bool(std::int64_t)> is_suspended_;
  std::vector<std::int64_t> recent_steps_ns_;  // a ring
  std::size_t next_ = 0;
};

// Tells it from a running job's files.
class HangMonitor {
 public:
  // `take`: hears what is read, steps among it.
  HangMonitor(std::filesystem::path folder, const trace::model::RunInfo& run,
              std::function<void(const trace::model::Batch&)> take = {});

  // Reads what is new. The reason why the job should end, as HangWatch::check(): it keeps running
  // whatever happens to its files.
  std::optional<std::string> look(const JobStatus& job);

 private:
  void read();

  const std::filesystem::path folder_;
  const std::function<void(const trace::model::Batch&)> take_;
  std::unique_ptr<trace::store::RunReader> reader_;  // null until the files can be read
  HangWatch watch_;
  HangWatch::Clock::time_point next_look_{};  // later after an error
  HangWatch::Clock::duration pause_{};
};

}  // namespace shardlens::app::launch
