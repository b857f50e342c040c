// A tab of the Inspect workspace: statistics of one kind of events by name, and the distribution of
// the name that was clicked. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"
#include "ui/table/table_view.h"

namespace shardlens::ui {

class StatisticsTab {
 public:
  explicit StatisticsTab(trace::StatisticsTable table)
      : kind_(table), view_(TableSort{"Total", true}) {}

  void draw(const Theme& theme, const Rect& rect, const InspectView& view, Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void update(const InspectView& view);
  void draw_tools(const Theme& theme, Rect tools, const InspectView& view, Commands& commands);
  void draw_menu(const Theme& theme, Commands& commands);
  void draw_distribution(const Theme& theme, const Rect& rect, const InspectView& view,
                         Commands& commands);
  void pick(const trace::NameFigures& row, Commands& commands);
  const trace::NameFigures* picked() const;  // null: nothing is, or not in this range

  trace::StatisticsTable kind_;
  TableView view_;
  std::string filter_;
  std::size_t group_ = 0;  // into the groups there are
  struct OfRun {
    std::string picked;  // a name
    bool has_pick = false;
    std::optional<std::size_t> menu_row;  // of `table`
    std::shared_ptr<const trace::RangeFigures> figures;
    const trace::RangeTable* shown = nullptr;  // in `figures`
    std::shared_ptr<const Table> table;
  } run_;
};

}  // namespace shardlens::ui
