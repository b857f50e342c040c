#include "ui/tune/timeline_panel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

constexpr float kHelpHeight = 20;

struct HelpEntry {
  enum class Mark { kFilled, kHollow, kShape } mark;
  Rgb hue;
  std::string_view label;
  Shape shape = Shape::kDown;
};

std::vector<HelpEntry> help_entries(const Palette& p, bool units) {
  using Mark = HelpEntry::Mark;
  std::vector<HelpEntry> entries{{Mark::kFilled, p.overlapped, "overlapped communication"},
                                 {Mark::kFilled, p.exposed, "exposed"},
                                 {Mark::kHollow, p.overlapped, "waiting for the last rank"}};
  if (!units) {
    entries.push_back({Mark::kShape, p.text_secondary, "a bucket's gradients are ready"});
    return entries;
  }
  entries.push_back({Mark::kShape, p.text_secondary, "a unit's gradients are ready"});
  entries.push_back({Mark::kShape, p.text_muted, "forward gather", Shape::kRight});
  entries.push_back(
      {Mark::kShape, p.text_muted, "backward gather; fainter: prefetched", Shape::kLeft});
  return entries;
}

void draw_help_line(const Theme& theme, Rect rect, bool units) {
  const Palette& p = theme.colors();
  for (const HelpEntry& entry : help_entries(p, units)) {
    const float width = theme.px(15) + text_width(theme, Face::kSmall, entry.label);
    if (width > rect.w) return;
    Rect box = rect.take_left(width, theme.px(16));
    const Rect mark = box.take_left(theme.px(9), theme.px(6));
    const Rect swatch{mark.x, std::round(mark.center_y() - mark.w / 2), mark.w, mark.w};
    if (entry.mark == HelpEntry::Mark::kShape) {
      shape(entry.shape, mark.center_x(), mark.center_y(), theme.px(7), color(entry.hue));
    } else if (entry.mark == HelpEntry::Mark::kFilled) {
      fill(swatch, color(entry.hue), theme.px(2));
    } else {
      fill(swatch, color(mix(p.panel, entry.hue, 0.22)), theme.px(2));
      outline(swatch, color(entry.hue), theme.px(2));
    }
    text_in(theme, box, Face::kSmall, p.text_muted, entry.label);
  }
}

bool has_units(const trace::StepPicture& step) {
  return std::ranges::any_of(step.rows->rows,
                             [](const trace::TimelineRow& row) { return row.label == "Units"; });
}

std::string title_of(const Snapshot& snapshot, const trace::StepPicture* shown) {
  if (!snapshot.run || snapshot.run->selected_step < 0) return "Timeline";
  const std::int64_t step = shown != nullptr ? shown->step : snapshot.run->selected_step;
  return "Timeline · step " + format_integer(step);
}

std::string empty_text(const Snapshot& snapshot, bool without_detail) {
  if (snapshot.is_loading) return "Reading the run…";
  if (!snapshot.run) return "Press Start, or double-click a run below to replay it";
  const RunView& run = *snapshot.run;
  if (run.selected_step < 0) return "Waiting for the first step…";
  if (without_detail && !run.figures.info.command.empty()) {
    return "This step has no kernels; its ranges and phases are in Inspect (Ctrl+2)";
  }
  if (without_detail) {
    return "This step was recorded without detail; choose another, or set “Record” to every step";
  }
  return "Reading step " + format_integer(run.selected_step) + "…";
}

void draw_follow(const Theme& theme, Rect header, const Snapshot& snapshot, Commands& commands) {
  if (!snapshot.run || !(snapshot.run->is_live || snapshot.replay.active)) return;
  const bool follows = snapshot.run->follows_live;
  const std::string_view label = follows ? "Following" : "Follow latest";
  const float width = text_width(theme, Face::kSmall, label) + theme.px(26);
  if (width > header.w) return;
  const Rect box = header.take_left(width).inset(0, (header.h - theme.px(22)) / 2);
  const Palette& p = theme.colors();
  const Hit hit = hit_area(theme, "timeline/follow", box);
  fill(box, color(hit.hovered ? p.hover : p.field), box.h / 2);
  outline(box, color(p.field_edge), box.h / 2);
  shape(Shape::kDot, box.x + theme.px(10), box.center_y(), theme.px(6),
        color(follows ? p.good : p.idle_edge));
  text_in(theme, {box.x + theme.px(18), box.y, box.w - theme.px(20), box.h}, Face::kSmall,
          p.text_secondary, label);
  if (hit.hovered) {
    tooltip(theme, "Follow", "Always shows the latest step of a run that goes on", "Space");
  }
  if (hit.clicked) commands.push_back(SelectStep{follows ? snapshot.run->selected_step : -1});
}

}  // namespace

void TimelinePanel::draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, bool keys,
                         Commands& commands) {
  const trace::StepPicture* const step =
      snapshot.run && snapshot.run->selected_step >= 0 ? snapshot.run->timeline.get() : nullptr;
  const bool current = step != nullptr && !step->rows->ranks.empty();
  if (current) board_.follow(snapshot.run->figures.info.folder, *step);
  const std::string title = title_of(snapshot, current ? step : nullptr);
  const std::string_view note = board_.state().measuring
                                    ? "drag to measure · Esc ends"
                                    : "scroll to zoom · drag to pan · M measure · F fit";
  Rect header;
  {
    const Panel panel(theme, "timeline", rect, {.title = title, .note = note});
    header = panel.header;
    Rect body = panel.body;
    if (current && step->has_detail) {
      draw_help_line(theme, body.take_bottom(theme.px(kHelpHeight)), has_units(*step));
      board_.draw_content(theme, body, {}, keys, commands);
    } else {
      text_in(theme, body, Face::kBody, theme.colors().text_muted, empty_text(snapshot, current),
              Align::kCenter);
    }
  }
  draw_follow(theme, header, snapshot, commands);
}

}  // namespace shardlens::ui
