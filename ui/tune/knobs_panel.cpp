#include "ui/tune/knobs_panel.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/tune/knob_row.h"
#include "ui/tune/strategy_bars.h"

namespace shardlens::ui {

namespace {

void draw_group_heading(const Look& look, const Rect& rect, trace::KnobGroup group) {
  const Palette& p = look.colors();
  Rect row = rect;
  row.take_top(look.px(6));
  const float width = text_in(look, row, Face::kHeading, p.heading, trace::to_string(group));
  row.take_left(width, look.px(10));
  line(row.x, std::round(row.center_y()), row.right(), std::round(row.center_y()),
       color(p.panel_edge));
}

bool draw_more(const Look& look, const Rect& rect, const KnobRow& row) {
  const Palette& p = look.colors();
  const std::string name = "more/" + std::string(trace::to_string(row.group));
  const std::string label =
      row.hidden > 0 ? std::to_string(row.hidden) + " more" : std::string("fewer");
  Rect box = rect;
  box.w = std::min(rect.w, text_width(look, Face::kSmall, label) + look.px(20));
  const Hit hit = hit_area(look, name, box);
  const Rgb ink = hit.hovered ? p.text : p.accent_text;
  const Rect mark = box.take_left(look.px(10), look.px(5));
  shape(row.hidden > 0 ? Shape::kRight : Shape::kUp, mark.x + look.px(4), mark.center_y(),
        look.px(7), color(ink));
  text_in(look, box, Face::kSmall, ink, label);
  return hit.clicked;
}

constexpr float kReset = 48;  // with its gap

float baseline_height(const Look& look, float width, const Snapshot& snapshot) {
  const std::string summary = change_summary(snapshot.knobs);
  const float text = wrapped_height(look, Face::kSmall, width - look.px(kReset), summary);
  return std::max(look.px(16), text);
}

void draw_baseline_row(const Look& look, Rect rect, const Snapshot& snapshot, Commands& commands) {
  const Palette& p = look.colors();
  const std::string summary = change_summary(snapshot.knobs);
  if (summary.empty()) {
    const std::string& name = snapshot.knobs.baseline_name;
    text_in(look, rect, Face::kSmall, p.text_muted,
            name.empty() ? "as the defaults" : "as " + name);
    return;
  }
  Rect reset = rect.take_right(look.px(kReset));
  reset.h = look.px(16);
  const float width = text_width(look, Face::kSmall, "Reset");
  reset = reset.take_right(width);
  const Hit hit = hit_area(look, "knobs/reset", reset);
  text_in(look, reset, Face::kSmall, hit.hovered ? p.text : p.accent_text, "Reset");
  if (hit.clicked) commands.push_back(ResetKnobs{});
  text_wrapped(look, rect, Face::kSmall, p.changed, summary);
  explain(look, rect, "Changed settings", summary);
}

}  // namespace

void KnobsPanel::reveal(std::string_view knob_name) {
  const trace::Knob* knob = trace::find_knob(knob_name);
  if (knob == nullptr) return;
  if (!knob->essential) unfolded_[static_cast<std::size_t>(knob->group)] = true;
  reveal_ = std::string(knob->name);
}

void KnobsPanel::draw_rows(const Look& look, const Rect& rect, const Snapshot& snapshot,
                           Commands& commands) {
  const Panel panel(look, "knob rows", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float padding = look.px(kPanelPadding);
  const float content = rect.w - 2 * padding;
  float y = panel.body.y;
  for (const KnobRow& row : knob_rows(snapshot.knobs, unfolded_)) {
    const bool bars = row.kind == KnobRow::Kind::kStrategies;
    const float height =
        bars ? strategy_bars_height(look, snapshot.knobs) : knob_row_height(look, content, row);
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
        draw_group_heading(look, box, row.group);
        break;
      case KnobRow::Kind::kKnob:
        draw_knob_row(look, box, row, commands);
        break;
      case KnobRow::Kind::kStrategies:
        draw_strategy_bars(look, box, snapshot.knobs, commands);
        break;
      case KnobRow::Kind::kMore:
        if (draw_more(look, box, row)) {
          bool& unfolded = unfolded_[static_cast<std::size_t>(row.group)];
          unfolded = !unfolded;
        }
        break;
    }
  }
  panel.content_height(y - panel.body.y + look.px(8));
}

void KnobsPanel::draw(const Look& look, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands) {
  const Palette& p = look.colors();
  fill(rect, color(p.panel), look.px(6));
  outline(rect, color(p.panel_edge), look.px(6));
  Rect rest = rect;
  const float padding = look.px(kPanelPadding);
  const Rect title = rest.take_top(panel_header_height(look) - look.px(4)).inset(padding, 0);
  text_in(look, title, Face::kStrong, p.text, "Settings for the next run");
  const float summary_height = baseline_height(look, rest.w - 2 * padding, snapshot);
  const Rect summary = rest.take_top(summary_height, look.px(4)).inset(padding, 0);
  draw_baseline_row(look, summary, snapshot, commands);
  const Rect foot = rest.take_bottom(start_area_height(look, rect.w, snapshot));
  line(foot.x + 1, foot.y, foot.right() - 1, foot.y, color(p.panel_edge));
  draw_rows(look, rest.inset(1, 0), snapshot, commands);
  draw_start_area(look, foot.inset(padding, padding), snapshot, commands);
}

}  // namespace shardlens::ui
