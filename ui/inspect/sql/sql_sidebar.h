// What a query can be made of: tables and columns, examples, what was asked before.
// Interface thread, inside a frame.
#pragma once

#include <set>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

class SqlSidebar {
 public:
  struct Pick {
    std::string insert;   // a word for the cursor's place
    std::string replace;  // a whole query
  };
  Pick draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view);

 private:
  void draw_tables(const kit::Theme& theme, const state::Rect& rect,
                   const state::SqlConsole& console, Pick& pick);

  std::size_t page_ = 1;            // examples: they teach the tables
  std::set<std::string> unfolded_;  // tables whose columns are shown
};

}  // namespace shardlens::ui::inspect
