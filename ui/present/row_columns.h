// Makes the columns of a table over rows of one type. Free of ImGui; any thread.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "ui/present/table_model.h"

namespace shardlens::ui::present {

// An integer in full, with the thousands apart.
inline Quantity whole_number(double value) {
  return {format_integer(static_cast<std::int64_t>(value)), ""};
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
