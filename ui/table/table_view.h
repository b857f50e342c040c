// Draws a Table: heads that sort, rows that are made only while they can be seen, columns that stay
// when the others are scrolled sideways. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/kit/widgets.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::table {

// A column's head: its title, and the direction where the table is sorted by it. A click asks for
// present::next_sort().
kit::Hit draw_column_head(const kit::Theme& theme, const state::Rect& box,
                          const present::Table& table, const present::TableColumn& column,
                          const present::TableSort& sort);

struct TableOptions {
  std::string_view filter = {};
  std::optional<std::size_t> selected = {};  // a row of the table
  std::string_view empty = {};               // what stands there instead of rows
  bool scrolls_sideways = false;
  std::string_view cut_note = {};  // below the whole text of a cell that is cut
};

struct TableEvents {  // rows of the table, not places on screen
  std::optional<std::size_t> clicked, right_clicked, hovered;
  std::size_t column = 0;  // under the mouse
};

class TableView {
 public:
  // `sort`: what it begins with, and what is left where another one is taken back.
  explicit TableView(present::TableSort sort = {}) : first_sort_(sort), sort_(std::move(sort)) {}

  // `table` is shared with what made it: the order is made anew when it is another one.
  TableEvents draw(const kit::Theme& theme, const state::Rect& rect,
                   const std::shared_ptr<const present::Table>& table, const TableOptions& options);

  const present::TableSort& sort() const { return sort_; }
  // As it stands on screen: sorted and filtered.
  std::string csv() const { return table_ ? present::csv_of(*table_, order_) : std::string(); }

 private:
  void update(const std::shared_ptr<const present::Table>& table, std::string_view filter);
  void place(const kit::Theme& theme, const state::Rect& rect, bool keep_all);
  void draw_head(const kit::Theme& theme, const state::Rect& head);
  // So that the column can be seen beside the frozen ones.
  void scroll_to(const kit::Theme& theme, const state::Rect& row, const state::Rect& column);
  float frozen_end(const kit::Theme& theme, const state::Rect& row) const;
  void draw_pinned(const kit::Theme& theme, const state::Rect& area) const;
  void explain_pinned(const kit::Theme& theme, const state::Rect& box, std::size_t column,
                      const std::vector<present::TableCell>& cells) const;
  void draw_rows(const kit::Theme& theme, const state::Rect& rows, const TableOptions& options,
                 TableEvents& events) const;
  // Calls draw(column, cell's area) for the columns that can be seen in a row, and pass(…) for
  // those that are scrolled out of it; frozen ones last.
  template <typename Draw, typename Pass>
  void for_each_cell(const kit::Theme& theme, const state::Rect& row, const Draw& draw,
                     const Pass& pass) const;
  template <typename Draw>
  void for_each_cell(const kit::Theme& theme, const state::Rect& row, const Draw& draw) const {
    for_each_cell(theme, row, draw, [](std::size_t, const state::Rect&) {});
  }

  present::TableSort first_sort_, sort_;
  std::shared_ptr<const present::Table> table_;
  std::string filter_;
  std::vector<std::uint32_t> order_;
  present::TableSort sorted_by_;
  std::vector<present::PlacedColumn> placed_;
  float scroll_x_ = 0;  // pixels
  std::optional<float> wanted_scroll_x_;
};

}  // namespace shardlens::ui::table
