#include "ui/tune/knobs_panel.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/tune/knob_row.h"
#include "ui/tune/strategy_bars.h"

namespace shardlens::ui {

namespace {

void draw_group_heading(const Theme& theme, const Rect& rect, trace::KnobGroup group) {
  const Palette& p = theme.colors();
  Rect row = rect;
  row.take_top(theme.px(6));
  const float width = text_in(theme, row, Face::kHeading, p.heading, trace::to_string(group));
  row.take_left(width, theme.px(10));
  line(row.x, std::round(row.center_y()), row.right(), std::round(row.center_y()),
       color(p.panel_edge));
}

bool draw_more(const Theme& theme, const Rect& rect, const KnobRow& row) {
  const Palette& p = theme.colors();
  const std::string name = "more/" + std::string(trace::to_string(row.group));
  const std::string label =
      row.hidden > 0 ? std::to_string(row.hidden) + " more" : std::string("fewer");
  Rect box = rect;
  box.w = std::min(rect.w, text_width(theme, Face::kSmall, label) + theme.px(20));
  const Hit hit = hit_area(theme, name, box);
  const Rgb ink = hit.hovered ? p.text : p.accent_text;
  const Rect mark = box.take_left(theme.px(10), theme.px(5));
  shape(row.hidden > 0 ? Shape::kRight : Shape::kUp, mark.x + theme.px(4), mark.center_y(),
        theme.px(7), color(ink));
  text_in(theme, box, Face::kSmall, ink, label);
  return hit.clicked;
}

constexpr float kReset = 48;  // with its gap

float baseline_height(const Theme& theme, float width, const Snapshot& snapshot) {
  const std::string summary = change_summary(snapshot.knobs);
  const float text = wrapped_height(theme, Face::kSmall, width - theme.px(kReset), summary);
  return std::max(theme.px(16), text);
}

void draw_baseline_row(const Theme& theme, Rect rect, const Snapshot& snapshot,
                       Commands& commands) {
  const Palette& p = theme.colors();
  const std::string summary = change_summary(snapshot.knobs);
  if (summary.empty()) {
    const std::string& name = snapshot.knobs.baseline_name;
    text_in(theme, rect, Face::kSmall, p.text_muted,
            name.empty() ? "as the defaults" : "as " + name);
    return;
  }
  Rect reset = rect.take_right(theme.px(kReset));
  reset.h = theme.px(16);
  const float width = text_width(theme, Face::kSmall, "Reset");
  reset = reset.take_right(width);
  const Hit hit = hit_area(theme, "knobs/reset", reset);
  text_in(theme, reset, Face::kSmall, hit.hovered ? p.text : p.accent_text, "Reset");
  if (hit.clicked) commands.push_back(ResetKnobs{});
  text_wrapped(theme, rect, Face::kSmall, p.changed, summary);
  explain(theme, rect, "Changed settings", summary);
}

}  // namespace

void KnobsPanel::reveal(std::string_view knob_name) {
  const trace::Knob* knob = trace::find_knob(knob_name);
  if (knob == nullptr) return;
  if (!knob->essential) unfolded_[static_cast<std::size_t>(knob->group)] = true;
  reveal_ = std::string(knob->name);
}

void KnobsPanel::draw_rows(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                           Commands& commands) {
  const Panel panel(theme, "knob rows", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float padding = theme.px(kPanelPadding);
  const float content = rect.w - 2 * padding;
  float y = panel.body.y;
  for (const KnobRow& row : knob_rows(snapshot.knobs, unfolded_)) {
    const bool bars = row.kind == KnobRow::Kind::kStrategies;
    const float height =
        bars ? strategy_bars_height(theme, snapshot.knobs) : knob_row_height(theme, content, row);
    const Rect box{rect.x + padding, y, content, height};
    y += box.h;
    if (row.knob != nullptr && row.knob->name == reveal_) {
      ImGui::SetScrollY(std::max(0.0f, box.y - panel.body.y - rect.h / 3));
      reveal_.clear();
    }
    // Fields outside of view cost more than they show.
    if (box.bottom() < rect.y - box.h || box.y > rect.bottom() + box.h) continue;
    switch (row.kind) {
      case KnobRow::Kind::kHeading:
        draw_group_heading(theme, box, row.group);
        break;
      case KnobRow::Kind::kKnob:
        draw_knob_row(theme, box, row, commands);
        break;
      case KnobRow::Kind::kStrategies:
        draw_strategy_bars(theme, box, snapshot.knobs, commands);
        break;
      case KnobRow::Kind::kMore:
        if (draw_more(theme, box, row)) {
          bool& unfolded = unfolded_[static_cast<std::size_t>(row.group)];
          unfolded = !unfolded;
        }
        break;
    }
  }
  panel.content_height(y - panel.body.y + theme.px(8));
}

void KnobsPanel::draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands) {
  const Palette& p = theme.colors();
  fill(rect, color(p.panel), theme.px(6));
  outline(rect, color(p.panel_edge), theme.px(6));
  Rect rest = rect;
  const float padding = theme.px(kPanelPadding);
  const Rect title = rest.take_top(panel_header_height(theme) - theme.px(4)).inset(padding, 0);
  text_in(theme, title, Face::kStrong, p.text, "Settings for the next run");
  const float summary_height = baseline_height(theme, rest.w - 2 * padding, snapshot);
  const Rect summary = rest.take_top(summary_height, theme.px(4)).inset(padding, 0);
  draw_baseline_row(theme, summary, snapshot, commands);
  const Rect foot = rest.take_bottom(start_area_height(theme, rect.w, snapshot));
  line(foot.x + 1, foot.y, foot.right() - 1, foot.y, color(p.panel_edge));
  draw_rows(theme, rest.inset(1, 0), snapshot, commands);
  draw_start_area(theme, foot.inset(padding, padding), snapshot, commands);
}

}  // namespace shardlens::ui
