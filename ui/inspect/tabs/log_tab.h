// The log of all ranks, filtered by rank, level and text. Interface thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

struct LogFilter {
  int rank = -1;                                                             // -1: all
  trace::model::LogLine::Level least = trace::model::LogLine::Level::kInfo;  // and what is worse
  std::string text;                                                          // whatever the case

  bool operator==(const LogFilter&) const = default;
};

std::vector<const trace::model::LogLine*> filtered_log(
    const std::vector<trace::model::LogLine>& log, const LogFilter& filter);
std::string log_csv(const std::vector<const trace::model::LogLine*>& lines);

class LogTab {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);
  // Text and level stay chosen; the next run may not have the rank.
  void forget_run() { filter_.rank = -1; }

 private:
  void draw_tools(const kit::Theme& theme, state::Rect tools, const state::RunView& run,
                  state::Commands& commands);

  LogFilter filter_;
};

}  // namespace shardlens::ui::inspect
