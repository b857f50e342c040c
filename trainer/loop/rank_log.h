// What a rank has to say: a line on standard error, which is its log, and one in its recording. Any
// thread.
#pragma once

#include <string>

#include "profiler/recorder/recorder.h"

namespace shardlens::trainer::loop {

class RankLog {
 public:
  // `recorder` may be null; lines then only go to standard error.
  explicit RankLog(profiler::recorder::Recorder* recorder) : recorder_(recorder) {}

  void info(const std::string& text);
  void warn(const std::string& text);
  // "error: …": what the launcher shows as the reason.
  void error(const std::string& text);

 private:
  void write(trace::model::LogLine::Level level, const std::string& line, const std::string& text);

  profiler::recorder::Recorder* recorder_;
};

}  // namespace shardlens::trainer::loop
