// The tab of all steps; a click goes to one. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

class StepTab {
 public:
  // Where the timeline should go.
  std::optional<trace::timeline::TimeRange> draw(const kit::Theme& theme, const state::Rect& rect,
                                                 const state::Snapshot& snapshot,
                                                 state::Commands& commands);

  void forget_run() { run_ = {}; }

  std::int64_t picked() const { return run_.picked; }  // a step's number; -1: none

 private:
  void draw_tools(const kit::Theme& theme, state::Rect tools, const state::RunView& run,
                  state::Commands& commands);

  table::TableView view_;
  struct OfRun {
    std::shared_ptr<const state::RunView> view;
    std::shared_ptr<const present::Table> table;
    std::int64_t picked = -1;  // a step's number
  } run_;
};

}  // namespace shardlens::ui::inspect
