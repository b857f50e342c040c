// A recorder that writes into a temporary folder, and what its parts cost a processor. One thread.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "bench/cpu_times.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::bench {

class ScratchRecorder {
 public:
  static trace::base::Result<std::unique_ptr<ScratchRecorder>> start(
      profiler::recorder::RecorderOptions options = {}) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "bench_recorder.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      return trace::base::fail(trace::base::ErrorKind::kIo,
                               "No temporary folder could be made: set TMPDIR.");
    options.file = std::filesystem::path(pattern) / "rank_0.sqlite";
    TRY_ASSIGN(auto recorder, profiler::recorder::Recorder::start(std::move(options)));
    return std::unique_ptr<ScratchRecorder>(new ScratchRecorder(pattern, std::move(recorder)));
  }
  ~ScratchRecorder() {
    recorder_.reset();
    std::filesystem::remove_all(folder_);
  }
  profiler::recorder::Recorder& operator*() { return *recorder_; }
  profiler::recorder::Recorder* operator->() { return recorder_.get(); }
  std::filesystem::path file() const { return folder_ / "rank_0.sqlite"; }
  std::int64_t file_bytes() const {
    return static_cast<std::int64_t>(std::filesystem::file_size(file()));
  }

 private:
  ScratchRecorder(std::filesystem::path folder,
                  std::unique_ptr<profiler::recorder::Recorder> recorder)
      : folder_(std::move(folder)), recorder_(std::move(recorder)) {}
  std::filesystem::path folder_;
  std::unique_ptr<profiler::recorder::Recorder> recorder_;
};

inline double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace shardlens::bench
