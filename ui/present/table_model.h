// A table as its cells, its orders and its CSV, whatever draws it. Cells are made when they are
// asked for, so that ten thousand rows cost what is on screen. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "ui/present/format.h"
#include "ui/state/palette.h"

namespace shardlens::ui::present {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

enum class Trend : std::uint8_t { kNone, kUp, kDown };

struct TableCell {
  std::string text = {};
  std::string unit = {};  // stands apart, behind the text, small and grey
  state::Tone tone = state::Tone::kText;
  std::optional<trace::base::TimeClass> mark =
      {};                          // a coloured square in front, or the bar's colour
  std::optional<double> bar = {};  // 0..1 of the cell
  const trace::timeline::DurationHistogram* histogram = nullptr;
  std::vector<std::pair<trace::base::TimeClass, double>> parts = {};  // of kStack: 0..1 of the cell
  bool is_short = false;   // the text says less than there is, as one that is cut
  bool is_marked = false;  // a warning sign in front; of kHeat: the cell that stands out
  std::optional<trace::model::MemoryCategory> memory_mark = {};  // a square of its colour in front
  Trend trend = Trend::kNone;                                    // ▲ or ▼ in front

  static TableCell words(std::string text, state::Tone tone = state::Tone::kText) {
    return {.text = std::move(text), .tone = tone};
  }
  static TableCell figure(const Quantity& quantity, state::Tone tone = state::Tone::kText) {
    return {.text = quantity.value, .unit = quantity.unit, .tone = tone};
  }
};

struct TableColumn {
  enum class Kind : std::uint8_t {
    kText,    // words
    kCode,    // a name as it was recorded
    kName,    // one that a user reads, its unit behind it
    kValue,   // a setting or a figure among words: left-aligned, its unit behind it, then its bar
    kFigure,  // right-aligned, unit apart
    kBar,     // a bar with a figure behind it
    kHistogram,  // a small histogram
    kStack,      // parts side by side
    kHeat,       // a shaded field, the figure where there is room
  };
  std::string title = {};
  // Behind the title in the head: of what it is just now, as "at step 29". No part of the column's
  // name: what is sorted by it stays sorted.
  std::string of = {};
  std::string csv_title = {};   // with the unit: "total_ns"; "" leaves the column out of the CSV
  std::string definition = {};  // what it is, for the tooltip
  std::string source = {};      // where it comes from, for the tooltip
  Kind kind = Kind::kFigure;
  float width = 80;  // of scale 1; what it is drawn with where there is no room for more
  float least = 0;   // what it can do with where one that is kept longest would go; 0: `width`
  float wish = 0;    // more than `width` where there is room; 0: no
  int priority = 0;  // low ones go first when there is little room
  std::function<TableCell(std::size_t row)> cell = {};
  // What it is sorted by, and what stands in the CSV; not a number: nothing. None: by the text.
  std::function<double(std::size_t row)> number = {};
  // Of numbers too large for a double: orders those that are one as such.
  std::function<std::int64_t(std::size_t row)> integer = {};
  std::function<std::string(std::size_t row)> csv = {};  // instead of both; in full, no "…"

  std::string head() const { return of.empty() ? title : title + " " + of; }
  // Its cells show its numbers; those that are not known stay empty.
  void show_numbers(std::function<Quantity(double)> show);
};

struct Table {
  std::string id;  // unique in the window, part of the names of what can be clicked
  std::vector<TableColumn> columns;
  std::size_t rows = 0;
  std::size_t frozen = 1;                 // columns that stay when the rest is scrolled sideways
  float gap = 16;                         // of scale 1, between one column's cells and the next's
  bool spreads_rest = false;              // the width that is left over: over all columns
  std::vector<std::uint32_t> order = {};  // of the rows unless they are sorted; none: as numbered
  // Rows above the others that are not sorted: by column.
  std::vector<std::vector<TableCell>> pinned;
  std::shared_ptr<const void> data;  // what the cells refer to
};

struct TableSort {
  std::string column;  // its title; "": as the rows come
  bool descending = false;

  bool operator==(const TableSort&) const = default;
};

// Rows in the order asked for, and only those in which every word of `filter` occurs in a column of
// words or names, whatever the case. Rows without a value come last in both directions.
std::vector<std::uint32_t> table_order(const Table& table, const TableSort& sort,
                                       std::string_view filter);

// Whether any row has a number in the column.
bool has_numbers(const Table& table, const TableColumn& column);

// What a click on a column's head asks for: figures first from the greatest, texts from the first.
// The third takes it back.
TableSort next_sort(const TableSort& sort, const TableColumn& column);

// RFC 4180: CRLF, fields quoted where they must be. A cell that a spreadsheet would run as a
// formula is left as it is: names of kernels are data, and the file is for programs, too.
std::string csv_field(std::string_view text);
std::string csv_of(const Table& table, const std::vector<std::uint32_t>& order);
// One row as tab-separated text, as it stands on screen.
std::string row_text(const Table& table, std::size_t row);

struct PlacedColumn {
  std::size_t column = 0;
  float x = 0, width = 0;  // of scale 1
};
// From this priority on a column goes only when the others have gone and those that can are drawn
// with their least width.
inline constexpr int kKeptLongest = 200;
// Which columns fit into `width` and how wide they are. Low priorities are left out first; what is
// left over goes to those that wish for more. `keep_all`: none is left out, the table is scrolled.
std::vector<PlacedColumn> place_columns(const Table& table, float width, bool keep_all);

// An integer in full, with the thousands apart.
inline Quantity whole_number(double value) {
  return {format_integer(static_cast<std::int64_t>(value)), ""};
}

// What every column says of itself; as a figure, unless it is told otherwise.
inline TableColumn column_head(std::string title, std::string csv_title, std::string definition,
                               float width, int priority = 0) {
  return {.title = std::move(title),
          .csv_title = std::move(csv_title),
          .definition = std::move(definition),
          .width = width,
          .priority = priority};
}

// None: kNotKnown.
template <typename Value>
double number_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? static_cast<double>(*value) : kNotKnown;
  } else {
    return static_cast<double>(value);
  }
}

// Makes the columns of a table over rows of one type.
template <typename Row>
class RowColumns {
 public:
  // `rows` live as long as the table's data, since its cells refer to them.
  RowColumns(Table& table, std::span<const Row> rows) : table_(&table), rows_(rows) {
    table.rows = rows.size();
  }

  std::span<const Row> rows() const { return rows_; }

  // What `cell(row)` makes, sorted by its text.
  template <typename Cell>
  TableColumn& add(TableColumn column, Cell cell) {
    column.cell = [rows = rows_, cell](std::size_t row) { return std::invoke(cell, rows[row]); };
    return table_->columns.emplace_back(std::move(column));
  }
  // The same, sorted by `value(row)`: a number, or none.
  template <typename Cell, typename Value>
  TableColumn& add(TableColumn column, Cell cell, Value value) {
    column.number = numbers(value);
    return add(std::move(column), cell);
  }

  // `value(row)` as `show` writes it; a cell without one stays empty.
  template <typename Value, typename Show>
  TableColumn& add_figure(TableColumn column, Value value, Show show) {
    column.number = numbers(value);
    column.show_numbers(show);
    return table_->columns.emplace_back(std::move(column));
  }
  // The same; null, and no column, where no row has a value.
  template <typename Value, typename Show>
  TableColumn* add_known(TableColumn column, Value value, Show show) {
    TableColumn& added = add_figure(std::move(column), value, show);
    if (has_numbers(*table_, added)) return &added;
    table_->columns.pop_back();
    return nullptr;
  }

  template <typename Text>
  TableColumn& add_words(TableColumn column, Text text, state::Tone tone = state::Tone::kText) {
    column.kind = TableColumn::Kind::kText;
    return add(std::move(column), [text, tone](const Row& row) {
      return TableCell::words(std::invoke(text, row), tone);
    });
  }

 private:
  template <typename Value>
  auto numbers(Value value) const {
    return [rows = rows_, value](std::size_t row) {
      return present::number_of(std::invoke(value, rows[row]));
    };
  }

  Table* table_;
  std::span<const Row> rows_;
};

}  // namespace shardlens::ui::present
