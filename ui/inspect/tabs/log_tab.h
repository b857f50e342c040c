// The log of all ranks, filtered by rank, level and text. Interface thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

struct LogFilter {
  int rank = -1;                                               // -1: all
  trace::LogLine::Level least = trace::LogLine::Level::kInfo;  // and what is worse
  std::string text;                                            // whatever the case

  bool operator==(const LogFilter&) const = default;
};

std::vector<const trace::LogLine*> filtered_log(const std::vector<trace::LogLine>& log,
                                                const LogFilter& filter);
std::string log_csv(const std::vector<const trace::LogLine*>& lines);

class LogTab {
 public:
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);
  // Text and level stay chosen; the next run may not have the rank.
  void forget_run() { filter_.rank = -1; }

 private:
  void draw_tools(const Theme& theme, Rect tools, const RunView& run, Commands& commands);

  LogFilter filter_;
  std::size_t level_ = 0;
};

}  // namespace shardlens::ui
