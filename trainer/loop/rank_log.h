// What a rank has to say: a line on standard error, which is its log, and one in its recording. Any
// thread.
#pragma once

#include <cstdio>
#include <string>

#include "profiler/recorder/recorder.h"

namespace shardlens::trainer::loop {

class RankLog {
 public:
  // `recorder` may be null; lines then only go to standard error.
  explicit RankLog(profiler::recorder::Recorder* recorder) : recorder_(recorder) {}

  void info(const std::string& text) { write(trace::model::LogLine::Level::kInfo, "", text); }
  void warn(const std::string& text) {
    write(trace::model::LogLine::Level::kWarning, "warning: ", text);
  }
  // "error: …": what the launcher shows as the reason.
  void error(const std::string& text) {
    write(trace::model::LogLine::Level::kError, "error: ", text);
  }

 private:
  void write(trace::model::LogLine::Level level, const char* mark, const std::string& text) {
    // One call, so that ranks that share a terminal do not mix their lines.
    const std::string line = mark + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    if (recorder_ != nullptr) recorder_->log(level, text);
  }

  profiler::recorder::Recorder* recorder_;
};

}  // namespace shardlens::trainer::loop
