#include "trainer/loop/rank_log.h"

#include <cstdio>

namespace shardlens::trainer::loop {

void RankLog::info(const std::string& text) {
  write(trace::model::LogLine::Level::kInfo, text, text);
}

void RankLog::warn(const std::string& text) {
  write(trace::model::LogLine::Level::kWarning, "warning: " + text, text);
}

void RankLog::error(const std::string& text) {
  write(trace::model::LogLine::Level::kError, "error: " + text, text);
}

void RankLog::write(trace::model::LogLine::Level level, const std::string& line,
                    const std::string& text) {
  // One call, so that ranks that share a terminal do not mix their lines.
  const std::string with_end = line + "\n";
  std::fwrite(with_end.data(), 1, with_end.size(), stderr);
  if (recorder_ != nullptr) recorder_->log(level, text);
}

}  // namespace shardlens::trainer::loop
