// What a table shows.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "ui/present/format.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

inline const present::TableColumn* column_named(const present::Table& table,
                                                std::string_view title) {
  const auto found = std::ranges::find(table.columns, title, &present::TableColumn::title);
  return found == table.columns.end() ? nullptr : &*found;
}

inline std::string time_text(auto ns) {
  return present::format_duration(static_cast<double>(ns)).text();
}

inline std::string shown(const present::TableColumn& column, std::size_t row) {
  const present::TableCell cell = column.cell(row);
  return cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
}

}  // namespace shardlens::ui::inspect
