// A recorder that writes into a temporary folder. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "bench/cpu_times.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/file_system.h"

namespace shardlens::bench {

class ScratchRecorder {
 public:
  static trace::base::Result<std::unique_ptr<ScratchRecorder>> start(
      profiler::recorder::RecorderOptions options = {}) {
    TRY_ASSIGN(auto folder, trace::base::TemporaryFolder::create());
    options.file = folder.path() / "rank_0.sqlite";
    TRY_ASSIGN(auto recorder, profiler::recorder::Recorder::start(std::move(options)));
    return std::unique_ptr<ScratchRecorder>(
        new ScratchRecorder(std::move(folder), std::move(recorder)));
  }
  profiler::recorder::Recorder& operator*() { return *recorder_; }
  profiler::recorder::Recorder* operator->() { return recorder_.get(); }
  std::filesystem::path file() const { return folder_.path() / "rank_0.sqlite"; }
  std::int64_t file_bytes() const {
    return static_cast<std::int64_t>(std::filesystem::file_size(file()));
  }

 private:
  ScratchRecorder(trace::base::TemporaryFolder folder,
                  std::unique_ptr<profiler::recorder::Recorder> recorder)
      : folder_(std::move(folder)), recorder_(std::move(recorder)) {}
  trace::base::TemporaryFolder folder_;
  std::unique_ptr<profiler::recorder::Recorder> recorder_;
};

}  // namespace shardlens::bench
