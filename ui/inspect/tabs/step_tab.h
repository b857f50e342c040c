// The tab of all steps; a click goes to one. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/table/table_view.h"

namespace shardlens::ui {

class StepTab {
 public:
  // Where the timeline should go.
  std::optional<trace::TimeRange> draw(const Theme& theme, const Rect& rect,
                                       const Snapshot& snapshot, Commands& commands);

  void forget_run() { run_ = {}; }

  std::int64_t picked() const { return run_.picked; }  // a step's number; -1: none

 private:
  void draw_tools(const Theme& theme, Rect tools, const RunView& run, Commands& commands);

  TableView view_;
  struct OfRun {
    std::shared_ptr<const RunView> view;
    std::shared_ptr<const Table> table;
    std::int64_t picked = -1;  // a step's number
  } run_;
};

}  // namespace shardlens::ui
