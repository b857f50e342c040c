#include "ui/log/log_panel.h"

#include <vector>

#include "ui/kit/panel.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

Rgb level_color(const Palette& p, trace::LogLine::Level level) {
  if (level == trace::LogLine::Level::kError) return p.danger;
  return level == trace::LogLine::Level::kWarning ? p.text : p.text_secondary;
}

}  // namespace

void draw_log(const Theme& theme, const Rect& rect, const Snapshot& snapshot) {
  const Palette& p = theme.colors();
  if (!snapshot.run || snapshot.run->log.empty()) {
    const bool may_come = !snapshot.run || snapshot.run->is_live;
    text_in(theme, rect, Face::kBody, p.text_muted,
            may_come ? "The ranks have written nothing yet" : "The ranks wrote nothing",
            Align::kCenter);
    return;
  }
  std::vector<const trace::LogLine*> lines;
  for (const trace::LogLine& entry : snapshot.run->log) lines.push_back(&entry);
  draw_log_lines(theme, rect, lines);
}

void draw_log_lines(const Theme& theme, const Rect& rect,
                    std::span<const trace::LogLine* const> lines) {
  const Palette& p = theme.colors();
  const Panel panel(theme, "log lines", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float height = theme.px(18);
  const bool at_end = ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - height;
  float y = panel.body.y;
  for (const trace::LogLine* line : lines) {
    const trace::LogLine& entry = *line;
    const Rect row{rect.x, y, rect.w - theme.px(12), height};
    y += height;
    if (row.bottom() < rect.y || row.y > rect.bottom()) continue;
    Rect rest = row;
    text_in(theme, rest.take_left(theme.px(64)), Face::kMonoSmall, p.text_muted,
            format_date(entry.time_ns).substr(11));
    text_in(theme, rest.take_left(theme.px(56)), Face::kMonoSmall, p.text_muted,
            "rank " + std::to_string(entry.rank));
    text_in(theme, rest, Face::kMonoSmall, level_color(p, entry.level), entry.text);
  }
  panel.content_height(y - panel.body.y);
  if (at_end) ImGui::SetScrollHereY(1);
}

}  // namespace shardlens::ui
