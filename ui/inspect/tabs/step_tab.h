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
  // The number of the step that is to be selected and shown.
  std::optional<std::int64_t> draw(const kit::Theme& theme, const state::Rect& rect,
                                   const state::Snapshot& snapshot, state::Commands& commands);

  void forget_run() { run_ = {}; }

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
