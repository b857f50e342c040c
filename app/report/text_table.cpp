#include "app/report/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

namespace {
float shown_width(std::string_view text) { return static_cast<float>(display_width(text)); }
}  // namespace

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t kept = 0;
  std::size_t seen = 0;
  for (; kept < text.size(); ++kept) {
    if (starts_code_point(text[kept]) && ++seen == width) break;
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::string time_text(double ns) { return ui::present::format_duration(ns).text(); }
std::string size_text(double bytes) { return ui::present::format_bytes(bytes).text(); }

std::string loss_text(double loss) {
  if (!std::isfinite(loss)) return "not finite";
  return trace::base::formatted("%.4f", loss);
}

std::string or_unknown(bool is_known, std::string text) {
  return is_known ? text : std::string(ui::present::kUnknown);
}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.heading = trace::base::printable_line(column.heading);
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::ranges::replace_if(
        cells[i], [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    const auto& [heading, align, longest, is_name] = columns_[i];
    const std::string line = trace::base::printable_line(cells[i]);
    cells[i] = is_name ? ui::present::elide_middle(line, static_cast<float>(longest), shown_width)
                       : cut_to_width(line, longest);
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::string_view indent, bool headings) const {
  std::vector<std::vector<std::string>> lines;
  if (headings) {
    lines.emplace_back();
    for (const auto& column : columns_) lines.back().push_back(column.heading);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(line[i]));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row(indent);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) row += "  ";
      row += padded(line[i], widths[i], columns_[i].align);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace shardlens::app::report
