#include "ui/present/table_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

float total_width(const Table& table, const std::vector<std::size_t>& kept) {
  return std::accumulate(kept.begin(), kept.end(), 0.0f, [&](float sum, std::size_t column) {
    return sum + table.columns[column].width;
  });
}

// What nobody wished for goes to the first that wishes for anything, a name or a picture, so that
// the last column ends where the table does.
void give_rest(const Table& table, float width, std::vector<PlacedColumn>& placed) {
  const float rest = std::floor(width - placed.back().x - placed.back().width);
  const auto takes = std::ranges::find_if(
      placed, [&](const PlacedColumn& c) { return table.columns[c.column].wish > 0; });
  if (rest <= 0 || takes == placed.end()) return;
  takes->width += rest;
  for (auto behind = takes + 1; behind != placed.end(); ++behind) behind->x += rest;
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
  if (sort.column == column.title) return {column.title, !sort.descending};
  return {column.title, !is_words(column)};
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
  std::vector<std::size_t> kept(table.columns.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  while (!keep_all && kept.size() > 1 && total_width(table, kept) > width) {
    // The last of the lowest: what stands further right matters less.
    auto lowest = kept.end() - 1;
    for (auto at = kept.end() - 1; at != kept.begin(); --at) {
      if (table.columns[*at].priority < table.columns[*lowest].priority) lowest = at;
    }
    kept.erase(lowest);
  }
  std::vector<PlacedColumn> placed;
  float spare = std::max(0.0f, width - total_width(table, kept));
  float wished = 0;
  for (const std::size_t column : kept) {
    wished += std::max(0.0f, table.columns[column].wish - table.columns[column].width);
  }
  const float part = wished > 0 ? std::min(1.0f, spare / wished) : 0;
  float x = 0;
  for (const std::size_t column : kept) {
    const TableColumn& c = table.columns[column];
    const float given = std::floor(c.width + part * std::max(0.0f, c.wish - c.width));
    placed.push_back({column, x, given});
    x += given;
  }
  if (placed.empty() || keep_all) return placed;
  if (placed.size() == 1) placed.front().width = std::min(placed.front().width, width);
  give_rest(table, width, placed);
  return placed;
}

}  // namespace shardlens::ui::present
