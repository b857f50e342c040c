// What a table shows, and times as a hand would write them.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

inline const present::TableColumn* column_named(const present::Table& table,
                                                std::string_view title) {
  const auto found = std::ranges::find(table.columns, title, &present::TableColumn::title);
  return found == table.columns.end() ? nullptr : &*found;
}

// "402.1 ms" by hand: three or four digits, the unit by size.
inline std::string time_by_hand(double ns) {
  const char* unit = "µs";
  double value = ns / 1e3;
  if (ns >= 999.95e6) {
    unit = "s";
    value = ns / 1e9;
  } else if (ns >= 999.5e3) {
    unit = "ms";
    value = ns / 1e6;
  }
  char text[64];
  std::snprintf(text, sizeof text, value < 9.995 ? "%.2f %s" : "%.1f %s", value, unit);
  return text;
}

inline std::string shown(const present::TableColumn& column, std::size_t row) {
  const present::TableCell cell = column.cell(row);
  return cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
}

}  // namespace shardlens::ui::inspect
