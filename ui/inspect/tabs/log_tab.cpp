#include "ui/inspect/tabs/log_tab.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/log/log_panel.h"
#include "ui/present/table_model.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::string_view kAllRanks = "all ranks";

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                 [&](char a, char b) { return lower(a) == lower(b); });
  return part.empty() || found != text.end();
}

}  // namespace

std::vector<const trace::model::LogLine*> filtered_log(
    const std::vector<trace::model::LogLine>& log, const LogFilter& filter) {
  std::vector<const trace::model::LogLine*> lines;
  for (const trace::model::LogLine& entry : log) {
    if (filter.rank >= 0 && entry.rank != filter.rank) continue;
    if (entry.level < filter.least || !contains_ignoring_case(entry.text, filter.text)) continue;
    lines.push_back(&entry);
  }
  return lines;
}

std::string log_csv(const std::vector<const trace::model::LogLine*>& lines) {
  std::string out = "time_ns,rank,level,text\r\n";
  for (const trace::model::LogLine* entry : lines) {
    out += std::to_string(entry->time_ns) + "," + std::to_string(entry->rank) + "," +
           std::string(trace::model::to_string(entry->level)) + "," +
           present::csv_field(entry->text) + "\r\n";
  }
  return out;
}

void LogTab::draw_tools(const kit::Theme& theme, state::Rect tools, const state::RunView& run,
                        state::Commands& commands) {
  table::table_buttons(
      theme, "log", tools, table::export_file_name(run.figures.info.folder, "log", "csv"),
      [&] { return log_csv(filtered_log(run.log, filter_)); }, commands);
  const float field = std::min(theme.px(260), tools.w);
  if (field < theme.px(80)) return;
  const state::Rect text = tools.take_left(field, theme.px(12));
  table::filter_field(theme, "log/filter", text.inset(0, (text.h - theme.px(26)) / 2), filter_.text,
                      "Filter by text");
  constexpr std::array<std::string_view, 3> kLevels{"all", "warnings", "errors"};
  auto level = static_cast<std::size_t>(filter_.least);
  table::choice_strip(theme, "log/level", tools, kLevels, level);
  filter_.least = static_cast<trace::model::LogLine::Level>(level);
  std::set<int> ranks;
  for (const trace::model::LogLine& entry : run.log) ranks.insert(entry.rank);
  if (tools.w < theme.px(120) || ranks.size() < 2) return;
  std::vector<std::string> names{std::string(kAllRanks)};
  for (const int rank : ranks) names.push_back("rank " + std::to_string(rank));
  const std::vector<std::string_view> choices(names.begin(), names.end());
  std::string value = filter_.rank < 0 ? names.front() : "rank " + std::to_string(filter_.rank);
  const state::Rect box = tools.take_left(theme.px(120));
  if (kit::choice_field(theme, "log/rank", box.inset(0, (box.h - theme.px(26)) / 2), value, choices,
                        false)) {
    filter_.rank = value == kAllRanks ? -1 : std::stoi(value.substr(5));
  }
}

void LogTab::draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
                  state::Commands& commands) {
  if (!snapshot.run || snapshot.run->log.empty()) return log::draw_log(theme, rect, snapshot);
  state::Rect area = rect;
  if (rect.h > theme.px(80)) {
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), *snapshot.run, commands);
  }
  const auto lines = filtered_log(snapshot.run->log, filter_);
  if (lines.empty()) {
    kit::empty_note(theme, area, "No line matches the filter");
    return;
  }
  // Whole lines only: half a line reads like a fault.
  const float line_height = theme.px(18);
  if (area.h > line_height) {
    const float whole = std::floor(area.h / line_height) * line_height;
    area.y += area.h - whole;
    area.h = whole;
  }
  log::draw_log_lines(theme, area, lines);
}

}  // namespace shardlens::ui::inspect
