// Tells from a running job's files that one of its ranks hangs. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/launch/hang_watch.h"
#include "app/launch/job_session.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::launch {

class HangMonitor {
 public:
  // `take`: hears what is read, steps among it.
  HangMonitor(std::filesystem::path folder, const trace::model::RunInfo& run,
              std::function<void(const trace::model::Batch&)> take = {});

  // Reads what is new. The job keeps running whatever happens to its files.
  void look(const JobStatus& job);
  // The reason why the job should end.
  std::optional<std::string> hang() const { return watch_.check(HangWatch::Clock::now()); }

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
