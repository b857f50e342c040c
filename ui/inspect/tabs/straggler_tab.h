// The tab of waits and transfers by collective and rank. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>

#include "ui/inspect/tabs/straggler_table.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"
#include "ui/table/table_view.h"

namespace shardlens::ui {

class StragglerTab {
 public:
  // Where the timeline should go.
  std::optional<trace::TimeRange> draw(const Theme& theme, const Rect& rect,
                                       const InspectView& view, Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void draw_tools(const Theme& theme, Rect tools, const InspectView& view, Commands& commands);
  void explain_cell(const Theme& theme, const TableEvents& events) const;
  std::optional<trace::TimeRange> go_to(std::size_t row, Commands& commands) const;

  TableView view_{TableSort{"Longest wait", true}};
  std::string filter_;
  struct OfRun {
    std::shared_ptr<const trace::StragglerFigures> figures;
    StragglerColumns columns;
    std::shared_ptr<const Table> table;
    std::optional<std::size_t> picked;
  } run_;
};

}  // namespace shardlens::ui
