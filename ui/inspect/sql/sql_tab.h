// The SQL console: tables and examples, an editor, the answer. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/inspect/sql/sql_editor.h"
#include "ui/inspect/sql/sql_sidebar.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

class SqlTab {
 public:
  // Where the timeline should go.
  std::vector<trace::timeline::TimeRange> draw(const kit::Theme& theme, const state::Rect& rect,
                                               const state::InspectView& view,
                                               state::Commands& commands);
  // The question stays, to be asked of the next run.
  void forget_run() { run_ = {}; }
  bool edits() const { return editor_.has_keyboard(); }

 private:
  void draw_question(const kit::Theme& theme, state::Rect area, const state::InspectView& view,
                     state::Commands& commands);
  std::vector<trace::timeline::TimeRange> draw_answer(const kit::Theme& theme, state::Rect area,
                                                      const state::InspectView& view,
                                                      state::Commands& commands);
  void draw_error(const kit::Theme& theme, const state::Rect& area) const;
  std::vector<trace::timeline::TimeRange> draw_menu(const kit::Theme& theme,
                                                    state::Commands& commands);
  void run(state::Commands& commands) const;

  SqlEditor editor_;
  SqlSidebar sidebar_;
  table::TableView view_;
  struct OfRun {
    std::shared_ptr<const state::SqlAnswer> answer;
    std::shared_ptr<const present::Table> table;
    std::optional<SqlErrorPlace> wrong;   // in the text that was asked
    std::optional<std::size_t> menu_row;  // of `table`
    std::size_t menu_column = 0;
  } run_;
};

}  // namespace shardlens::ui::inspect
