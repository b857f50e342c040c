#include "ui/log/log_panel.h"

#include <vector>

#include "ui/kit/panel.h"
#include "ui/present/format.h"

namespace shardlens::ui::log {

namespace {

state::Rgb level_color(const state::Palette& p, trace::model::LogLine::Level level) {
  if (level == trace::model::LogLine::Level::kError) return p.danger;
  return level == trace::model::LogLine::Level::kWarning ? p.text : p.text_secondary;
}

}  // namespace

void draw_log(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot) {
  if (!snapshot.run || snapshot.run->log.empty()) {
    const bool may_come = !snapshot.run || snapshot.run->is_live;
    kit::empty_note(theme, rect,
                    may_come ? "The ranks have written nothing yet" : "The ranks wrote nothing");
    return;
  }
  std::vector<const trace::model::LogLine*> lines;
  for (const trace::model::LogLine& entry : snapshot.run->log) lines.push_back(&entry);
  draw_log_lines(theme, rect, lines);
}

void draw_log_lines(const kit::Theme& theme, const state::Rect& rect,
                    std::span<const trace::model::LogLine* const> lines) {
  const state::Palette& p = theme.colors();
  const kit::Panel panel(theme, "log lines", rect,
                         {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float height = theme.px(18);
  const bool at_end = ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - height;
  float y = panel.body.y;
  for (const trace::model::LogLine* line : lines) {
    const trace::model::LogLine& entry = *line;
    const state::Rect row{rect.x, y, rect.w - theme.px(12), height};
    y += height;
    if (row.bottom() < rect.y || row.y > rect.bottom()) continue;
    state::Rect rest = row;
    kit::text_in(theme, rest.take_left(theme.px(64)), kit::Face::kMonoSmall, p.text_muted,
                 present::format_date(entry.time_ns).substr(11));
    kit::text_in(theme, rest.take_left(theme.px(56)), kit::Face::kMonoSmall, p.text_muted,
                 "rank " + std::to_string(entry.rank));
    kit::text_in(theme, rest, kit::Face::kMonoSmall, level_color(p, entry.level), entry.text);
  }
  panel.content_height(y - panel.body.y);
  if (at_end) ImGui::SetScrollHereY(1);
}

}  // namespace shardlens::ui::log
