#include "ui/inspect/sql/sql_result.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/inspect/sql/sql_words.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kAdvance = 7.6f;  // of scale 1, per character of the monospaced face
constexpr std::size_t kMeasuredRows = 200;
constexpr std::size_t kWidestText = 60;

std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

float width_of(const state::SqlAnswer& answer, std::size_t column) {
  std::size_t letters = letters_in(answer.columns[column]) + 2;  // and the sign of its order
  for (std::size_t row = 0; row < std::min(answer.rows.size(), kMeasuredRows); ++row) {
    if (column < answer.rows[row].size())
      letters = std::max(letters, letters_in(answer.rows[row][column]));
  }
  return std::ceil(kAdvance * static_cast<float>(std::min(letters, kWidestText))) + 20;
}

const std::string& text_at(const state::SqlAnswer& answer, std::size_t row, std::size_t column) {
  static const std::string kNothing;
  return column < answer.rows[row].size() ? answer.rows[row][column] : kNothing;
}

double number_at(const state::SqlAnswer& answer, std::size_t row, std::size_t column) {
  const std::string& text = text_at(answer, row, column);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? std::numeric_limits<double>::quiet_NaN() : value;
}

std::optional<std::int64_t> integer_of(const state::SqlAnswer& answer, std::size_t row,
                                       std::string_view name) {
  const auto column = std::ranges::find(answer.columns, name);
  if (column == answer.columns.end()) return std::nullopt;
  return trace::base::number_from<std::int64_t>(
      text_at(answer, row, static_cast<std::size_t>(column - answer.columns.begin())));
}

}  // namespace

std::shared_ptr<const present::Table> sql_result_table(
    const std::shared_ptr<const state::SqlAnswer>& answer) {
  auto out = std::make_shared<present::Table>();
  out->id = "sql";
  out->rows = answer->rows.size();
  out->frozen = 0;
  out->data = answer;
  for (std::size_t i = 0; i < answer->columns.size(); ++i) {
    present::TableColumn column;
    column.title = answer->columns[i];
    // Two columns may have one name; orders and heads tell them apart.
    const auto same =
        std::ranges::count(out->columns, answer->columns[i], &present::TableColumn::csv_title);
    if (same > 0) column.title += " (" + std::to_string(same + 1) + ")";
    column.csv_title = answer->columns[i];
    column.definition = "A column of the answer. Click sorts by it";
    const bool number = i < answer->is_number.size() && answer->is_number[i];
    column.kind = number ? present::TableColumn::Kind::kFigure : present::TableColumn::Kind::kCode;
    column.width = width_of(*answer, i);
    const state::SqlAnswer* rows = answer.get();
    column.cell = [rows, i](std::size_t row) {
      present::TableCell cell = present::TableCell::words(text_at(*rows, row, i));
      std::ranges::replace(cell.text, '\n', ' ');
      return cell;
    };
    if (number) {
      column.number = [rows, i](std::size_t row) { return number_at(*rows, row, i); };
      column.integer = [rows, i](std::size_t row) {
        return trace::base::number_from<std::int64_t>(text_at(*rows, row, i)).value_or(0);
      };
    }
    column.csv = [rows, i](std::size_t row) { return text_at(*rows, row, i); };
    out->columns.push_back(std::move(column));
  }
  return out;
}

std::optional<trace::timeline::TimeRange> time_of_row(const state::SqlAnswer& answer,
                                                      std::size_t row) {
  if (row >= answer.rows.size()) return std::nullopt;
  auto start = integer_of(answer, row, "start_ns");
  if (!start) start = integer_of(answer, row, "time_ns");
  if (!start) return std::nullopt;
  trace::timeline::TimeRange range{*start, *start, {}};
  if (const auto end = integer_of(answer, row, "end_ns")) {
    range.end_ns = *end;
  } else if (const auto duration = integer_of(answer, row, "duration_ns")) {
    range.end_ns =
        *start > std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(0, *duration)
            ? *start
            : *start + *duration;
  }
  if (range.end_ns < range.start_ns) std::swap(range.start_ns, range.end_ns);
  const auto rank = integer_of(answer, row, "rank");
  if (rank && *rank >= 0 && *rank <= std::numeric_limits<int>::max()) {
    range.ranks = {static_cast<int>(*rank)};
  }
  return range;
}

std::string answer_text(const state::SqlAnswer& answer) {
  const auto count = static_cast<std::int64_t>(answer.rows.size());
  std::string text = answer.truncated ? "the first " : "";
  text += present::format_integer(count) + (count == 1 ? " row in " : " rows in ");
  const bool long_time = answer.seconds >= 1;
  text += trace::base::formatted(long_time ? "%.2f s" : "%.0f ms",
                                 long_time ? answer.seconds : answer.seconds * 1e3);
  if (!answer.left_out.empty()) text += " · without a rank that cannot be read";
  return text;
}

SqlErrorPlace sql_error_place(std::string_view query, std::size_t offset) {
  std::size_t end = offset;
  while (end < query.size() && (is_word_character(query[end]) || query[end] == '.')) ++end;
  SqlErrorPlace place{offset, std::max<std::size_t>(1, end - offset)};
  for (const char c : query.substr(0, offset)) {
    const bool letter = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    place.column = c == '\n' ? 1 : place.column + (letter ? 1 : 0);
    if (c == '\n') ++place.line;
  }
  return place;
}

}  // namespace shardlens::ui::inspect
