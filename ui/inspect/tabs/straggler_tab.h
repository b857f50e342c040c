// The tab of waits and transfers by collective and rank. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/inspect/tabs/straggler_table.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

class StragglerTab {
 public:
  // Where the timeline should go.
  std::vector<trace::timeline::TimeRange> draw(const kit::Theme& theme, const state::Rect& rect,
                                               const state::InspectView& view,
                                               state::Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void draw_tools(const kit::Theme& theme, state::Rect tools, const state::InspectView& view,
                  state::Commands& commands);
  void explain_cell(const kit::Theme& theme, const table::TableEvents& events) const;
  std::vector<trace::timeline::TimeRange> go_to(std::size_t row, state::Commands& commands) const;

  table::TableView view_{present::TableSort{"Longest wait", true}};
  std::string filter_;
  struct OfRun {
    std::shared_ptr<const trace::timeline::StragglerFigures> figures;
    StragglerColumns columns;
    std::shared_ptr<const present::Table> table;
    std::optional<std::size_t> picked;
  } run_;
};

}  // namespace shardlens::ui::inspect
