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

namespace shardlens::ui::inspect {

class StatisticsTab {
 public:
  explicit StatisticsTab(trace::timeline::StatisticsTable table)
      : kind_(table), view_(present::TableSort{"Total", true}) {}

  void draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view,
            state::Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void update(const state::InspectView& view);
  void draw_tools(const kit::Theme& theme, state::Rect tools, const state::InspectView& view,
                  state::Commands& commands);
  void draw_menu(const kit::Theme& theme, state::Commands& commands);
  void draw_distribution(const kit::Theme& theme, const state::Rect& rect,
                         const state::InspectView& view, state::Commands& commands);
  bool has_names() const;
  void find(const trace::timeline::NameFigures& row, state::Commands& commands) const;
  void pick(const trace::timeline::NameFigures& row, state::Commands& commands);
  // Null: there is no such name, or not in this range.
  const trace::timeline::NameFigures* row_of(const std::optional<std::string>& name) const;
  std::size_t index_of(const trace::timeline::NameFigures& row) const;

  trace::timeline::StatisticsTable kind_;
  table::TableView view_;
  std::string filter_;
  std::size_t group_ = 0;  // into the groups there are
  struct OfRun {
    // Names: rows move with every count of a run that goes on.
    std::optional<std::string> picked, menu_of;
    std::shared_ptr<const trace::timeline::RangeFigures> figures;
    const trace::timeline::RangeTable* shown = nullptr;  // in `figures`
    std::shared_ptr<const present::Table> table;
  } run_;
};

}  // namespace shardlens::ui::inspect
