// The SQL console: tables and examples, an editor, the answer. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/inspect/sql/sql_editor.h"
#include "ui/inspect/sql/sql_sidebar.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/table/table_view.h"

namespace shardlens::ui {

class SqlTab {
 public:
  // Where the timeline should go.
  std::optional<trace::TimeRange> draw(const Theme& theme, const Rect& rect,
                                       const InspectView& view, Commands& commands);
  // The question stays, to be asked of the next run.
  void forget_run() { run_ = {}; }
  bool edits() const { return editor_.has_keyboard(); }

 private:
  void draw_question(const Theme& theme, Rect area, const InspectView& view, Commands& commands);
  std::optional<trace::TimeRange> draw_answer(const Theme& theme, Rect area,
                                              const InspectView& view, Commands& commands);
  void draw_error(const Theme& theme, const Rect& area) const;
  std::optional<trace::TimeRange> draw_menu(const Theme& theme, Commands& commands);
  void run(Commands& commands) const;

  SqlEditor editor_;
  SqlSidebar sidebar_;
  TableView view_;
  struct OfRun {
    std::shared_ptr<const SqlAnswer> answer;
    std::shared_ptr<const Table> table;
    std::optional<SqlErrorPlace> wrong;   // in the text that was asked
    std::optional<std::size_t> menu_row;  // of `table`
    std::size_t menu_column = 0;
  } run_;
};

}  // namespace shardlens::ui
