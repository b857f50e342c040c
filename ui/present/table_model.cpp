#include "ui/present/table_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trace/base/number_text.h"
#include "trace/base/text.h"

namespace shardlens::ui::present {

using trace::base::lower_case;

namespace {

std::vector<std::string> words_of(std::string_view filter) {
  std::vector<std::string> words;
  for (const std::string_view word : trace::base::split(filter, ' ')) {
    if (!word.empty()) words.push_back(lower_case(word));
  }
  return words;
}

bool is_words(const TableColumn& column) {
  return column.kind == TableColumn::Kind::kText || column.kind == TableColumn::Kind::kCode;
}

bool row_matches(const Table& table, std::size_t row, const std::vector<std::string>& words) {
  std::string texts;
  for (const TableColumn& column : table.columns) {
    if (!is_words(column)) continue;
    texts += lower_case(column.cell(row).text) + "\n";
    if (column.csv) texts += lower_case(column.csv(row)) + "\n";
  }
  return std::ranges::all_of(
      words, [&](const std::string& word) { return texts.find(word) != std::string::npos; });
}

void sort_by_number(std::vector<std::uint32_t>& rows, const TableColumn& column, bool descending,
                    std::size_t count) {
  std::vector<std::pair<double, std::int64_t>> keys(count);
  for (const std::uint32_t row : rows) {
    keys[row] = {column.number(row), column.integer ? column.integer(row) : 0};
  }
  std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
    if (std::isnan(keys[a].first) || std::isnan(keys[b].first)) return !std::isnan(keys[a].first);
    return descending ? keys[a] > keys[b] : keys[a] < keys[b];
  });
}

void sort_by_text(std::vector<std::uint32_t>& rows, const TableColumn& column, bool descending,
                  std::size_t count) {
  std::vector<std::string> keys(count);
  for (const std::uint32_t row : rows) keys[row] = lower_case(column.cell(row).text);
  std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
    if (keys[a].empty() || keys[b].empty()) return !keys[a].empty() && keys[b].empty();
    return descending ? keys[a] > keys[b] : keys[a] < keys[b];
  });
}

std::string number_text(double value) {
  if (std::isnan(value)) return "";
  // As an integer where it is one: 402100000 and not 4.021e+08.
  constexpr double kExact = 9'007'199'254'740'992;
  const bool whole = value == std::floor(value) && std::abs(value) <= kExact;
  return whole ? std::to_string(static_cast<std::int64_t>(value))
               : trace::base::shortest_text(value);
}

std::string csv_cell(const TableColumn& column, std::size_t row) {
  if (column.csv) return csv_field(column.csv(row));
  if (column.number) return number_text(column.number(row));
  return csv_field(column.cell(row).text);
}

using Placed = std::vector<PlacedColumn>;

float total_width(const Placed& placed) {
  return std::accumulate(placed.begin(), placed.end(), 0.0f,
                         [](float sum, const PlacedColumn& each) { return sum + each.width; });
}

// Of equal priorities what stands further right matters less; the first column never goes.
void drop_columns(const Table& table, float width, Placed& placed) {
  const auto of = [&](const PlacedColumn& each) -> const TableColumn& {
    return table.columns[each.column];
  };
  const auto drop_below = [&](int priority) {
    while (placed.size() > 1 && total_width(placed) > width) {
      auto lowest = placed.end() - 1;
      for (auto at = lowest; at != placed.begin(); --at) {
        if (of(*at).priority < of(*lowest).priority) lowest = at;
      }
      if (of(*lowest).priority >= priority) return;
      placed.erase(lowest);
    }
  };
  drop_below(kKeptLongest);
  for (PlacedColumn& each : placed) {
    if (of(each).least > 0 && total_width(placed) > width) each.width = of(each).least;
  }
  drop_below(std::numeric_limits<int>::max());
  if (placed.size() == 1) {
    placed.front().width = std::min(placed.front().width, std::max(0.0f, width));
  }
}

// What columns were made narrower by and what they wish for, those on the left first. The first one
// gets a third of the rest and the others share it, so that wide windows are not half empty.
void spread_rest(const Table& table, float width, Placed& placed) {
  const auto left = [&] { return std::max(0.0f, width - total_width(placed)); };
  for (const auto wanted : {&TableColumn::width, &TableColumn::wish}) {
    for (PlacedColumn& each : placed) {
      const float most = std::min(each.width + left(), table.columns[each.column].*wanted);
      each.width = std::max(each.width, most);
    }
  }
  const float part = std::min(32.0f, left() * 0.66f / static_cast<float>(placed.size()));
  for (PlacedColumn& each : placed) each.width += part;
  placed.front().width += std::min(140.0f, left());
}

// The same part of each wish. What nobody wished for goes to the first that wishes for anything, a
// name or a picture, so that the last column ends where the table does.
void grant_wishes(const Table& table, float width, bool keep_all, Placed& placed) {
  const auto wish = [&](const PlacedColumn& each) { return table.columns[each.column].wish; };
  float wished = 0;
  for (const PlacedColumn& each : placed) wished += std::max(0.0f, wish(each) - each.width);
  const float spare = std::max(0.0f, width - total_width(placed));
  const float part = wished > 0 ? std::min(1.0f, spare / wished) : 0;
  for (PlacedColumn& each : placed) {
    each.width = std::floor(each.width + part * std::max(0.0f, wish(each) - each.width));
  }
  if (keep_all) return;
  const float rest = std::floor(width - total_width(placed));
  const auto takes =
      std::ranges::find_if(placed, [&](const PlacedColumn& each) { return wish(each) > 0; });
  if (rest > 0 && takes != placed.end()) takes->width += rest;
}

}  // namespace

void TableColumn::show_numbers(std::function<Quantity(double)> show) {
  cell = [number = number, show = std::move(show)](std::size_t row) {
    const double given = number(row);
    return std::isnan(given) ? TableCell{} : TableCell::figure(show(given));
  };
}

bool has_numbers(const Table& table, const TableColumn& column) {
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (!std::isnan(column.number(row))) return true;
  }
  return false;
}

std::vector<std::uint32_t> table_order(const Table& table, const TableSort& sort,
                                       std::string_view filter) {
  std::vector<std::uint32_t> rows = table.order;
  if (rows.empty()) {
    rows.resize(table.rows);
    std::iota(rows.begin(), rows.end(), 0u);
  }
  if (const auto words = words_of(filter); !words.empty()) {
    std::erase_if(rows, [&](std::uint32_t row) { return !row_matches(table, row, words); });
  }
  const auto column = std::ranges::find(table.columns, sort.column, &TableColumn::title);
  if (sort.column.empty() || column == table.columns.end()) return rows;
  if (column->number) {
    sort_by_number(rows, *column, sort.descending, table.rows);
  } else {
    sort_by_text(rows, *column, sort.descending, table.rows);
  }
  return rows;
}

TableSort next_sort(const TableSort& sort, const TableColumn& column) {
  const bool first = column.number && !is_words(column);
  if (sort.column != column.title) return {column.title, first};
  if (sort.descending == first) return {column.title, !first};
  return {};
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_of(const Table& table, const std::vector<std::uint32_t>& order) {
  std::string out;
  const auto add_line = [&](const auto& field_of) {
    bool first = true;
    for (const TableColumn& column : table.columns) {
      if (column.csv_title.empty()) continue;
      if (!std::exchange(first, false)) out += ',';
      out += field_of(column);
    }
    out += "\r\n";
  };
  add_line([](const TableColumn& column) { return csv_field(column.csv_title); });
  for (const std::uint32_t row : order) {
    add_line([row](const TableColumn& column) { return csv_cell(column, row); });
  }
  return out;
}

std::string row_text(const Table& table, std::size_t row) {
  std::string out;
  for (const TableColumn& column : table.columns) {
    const TableCell cell = column.cell(row);
    if (cell.text.empty() && cell.histogram != nullptr) continue;
    if (!out.empty()) out += '\t';
    out += cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
  }
  return out;
}

std::vector<PlacedColumn> place_columns(const Table& table, float width, bool keep_all) {
  Placed placed;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    placed.push_back({.column = i, .width = table.columns[i].width});
  }
  if (placed.empty()) return placed;
  if (!keep_all) drop_columns(table, width, placed);
  if (table.spreads_rest) {
    spread_rest(table, width, placed);
  } else {
    grant_wishes(table, width, keep_all, placed);
  }
  float x = 0;
  for (PlacedColumn& each : placed) each.x = std::exchange(x, x + each.width);
  return placed;
}

}  // namespace shardlens::ui::present
