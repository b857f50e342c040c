#include "ui/tune/settings/knob_row.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ui/kit/widgets.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kRow = 38, kSlider = 18, kNote = 16, kBelowText = 6;
constexpr float kControlWidth = 112, kChoiceWidth = 136, kCheckboxWidth = 24, kBesideChoice = 32;

float choice_width(const kit::Theme& theme, std::string_view choice) {
  return std::ceil(kit::text_width(theme, kit::Face::kMono, choice)) + theme.px(kBesideChoice);
}

// The control's own strip at the right of the row: wide enough for every choice, or where that
// leaves too little for the labels, for the one that is set.
float control_width(const kit::Theme& theme, float row_width, const present::KnobRow& row) {
  if (row.control == present::KnobControl::kCheckbox) return theme.px(kCheckboxWidth);
  if (row.control != present::KnobControl::kChoice) return theme.px(kControlWidth);
  const float labels = std::max(kit::text_width(theme, kit::Face::kBody, row.knob->label),
                                kit::text_width(theme, kit::Face::kSmall, row.knob->name));
  const float room = row_width - labels - theme.px(8);
  // A path may be longer than the row.
  const float set = std::clamp(choice_width(theme, row.value), theme.px(kChoiceWidth),
                               std::max(theme.px(kChoiceWidth), room));
  float longest = set;
  for (const auto choice : row.knob->choices) {
    longest = std::max(longest, choice_width(theme, choice));
  }
  return longest <= room ? longest : set;
}

std::string unit_in_field(const kit::Theme& theme, const present::KnobRow& row) {
  const float left =
      theme.px(kControlWidth - 22) - kit::text_width(theme, kit::Face::kMono, row.value);
  const std::string unit(row.knob->unit);
  return kit::text_width(theme, kit::Face::kSmall, unit) <= left ? unit : "";
}

void draw_labels(const kit::Theme& theme, const state::Rect& box, const present::KnobRow& row) {
  const state::Palette& p = theme.colors();
  state::Rect lines = box.inset(0, theme.px(3));
  const state::Rect first = lines.take_top(lines.h * 0.55f);
  kit::text_in(theme, first, kit::Face::kBody, row.changed ? p.changed : p.text, row.knob->label);
  kit::note_in(theme, lines, row.knob->name);
}

// While the mouse is over the labels: what tries several values of this knob.
void draw_sweep_link(const kit::Theme& theme, const state::Rect& labels,
                     const present::KnobRow& row, state::Commands& commands) {
  // Also while it is pressed itself.
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool is_over = labels.contains(mouse.x, mouse.y) &&
                       ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (!is_over) return;
  const float width = kit::text_width(theme, kit::Face::kSmall, "Sweep…");
  const float name = kit::text_width(theme, kit::Face::kSmall, row.knob->name) + theme.px(10);
  state::Rect line = labels.inset(0, theme.px(3));
  line.take_top(line.h * 0.55f);
  line.take_left(name);
  if (line.w < width) return;
  if (kit::link(theme, "sweep/" + std::string(row.knob->name), line.take_left(width),
                theme.colors().accent_text, "Sweep…")) {
    commands.push_back(state::OpenSweepCard{std::string(row.knob->name)});
  }
}

void explain_knob(const kit::Theme& theme, const state::Rect& box, const present::KnobRow& row,
                  const state::Snapshot& snapshot) {
  if (!kit::hovers(box)) return;
  const trace::job::Knob& knob = *row.knob;
  const kit::TooltipScope scope(theme);
  scope.title(knob.label);
  scope.note(knob.explanation);
  scope.row("Setting", knob.name);
  const std::string range = trace::job::range_text(knob);
  if (range.size() <= 28) scope.row("Range", range);
  scope.row("Default", trace::job::default_text(knob));
  if (row.changed) scope.row("Before", row.before);
  if (!knob.applies_to.empty()) scope.row("Applies to", knob.applies_to);
  if (range.size() > 28) scope.note("Range: " + range);
  for (const std::string& value : present::closed_choices(knob)) {
    const auto* point = present::predicted_choice(snapshot, knob, value);
    if (point == nullptr) continue;
    const state::Rgb color = theme.colors().changed;
    scope.row(&color, value, present::choice_text(snapshot, knob, *point));
  }
}

// A better value, as it is predicted; a click sets it.
void draw_hint(const kit::Theme& theme, state::Rect line, const present::KnobRow& row,
               const present::ChoiceHint& hint, state::Commands& commands) {
  const state::Rect box =
      line.take_left(kit::text_width(theme, kit::Face::kSmall, hint.text) + theme.px(2));
  if (kit::link(theme, "hint/" + std::string(row.knob->name), box, theme.colors().changed,
                hint.text)) {
    commands.push_back(state::SetKnob{std::string(row.knob->name), hint.value});
  }
  kit::explain(theme, box, "Predicted to be faster", hint.text, "Click sets it");
}

void draw_control(const kit::Theme& theme, const state::Rect& box, const present::KnobRow& row,
                  state::Commands& commands) {
  const std::string name = "knob/" + std::string(row.knob->name);
  std::string value = row.value;
  bool edited = false;
  switch (row.control) {
    case present::KnobControl::kCheckbox: {
      bool on = value == "true";
      edited = kit::checkbox(theme, name, box, on, row.changed);
      value = on ? "true" : "false";
      break;
    }
    case present::KnobControl::kChoice:
      edited = kit::choice_field(theme, name, box, value, row.knob->choices,
                                 row.knob->choices_are_open, row.changed);
      break;
    case present::KnobControl::kInput:
    case present::KnobControl::kSliderInput:
      edited = kit::input_field(theme, name, box, value, unit_in_field(theme, row), row.changed);
      break;
  }
  if (edited) commands.push_back(state::SetKnob{std::string(row.knob->name), value});
}

void draw_slider(const kit::Theme& theme, const state::Rect& box, const present::KnobRow& row,
                 state::Commands& commands) {
  float position = present::slider_position(*row.knob, std::strtod(row.value.c_str(), nullptr));
  const std::string name = "slider/" + std::string(row.knob->name);
  const float from = position;
  if (!kit::slider(theme, name, box, position, row.changed)) return;
  std::string value = present::slider_text(*row.knob, position);
  // A key goes to the next value, however far apart they are.
  while (value == row.value && !ImGui::IsMouseDown(ImGuiMouseButton_Left) && position > 0 &&
         position < 1) {
    const float by = position > from ? kit::kSliderKeyStep : -kit::kSliderKeyStep;
    position = std::clamp(position + by, 0.0f, 1.0f);
    value = present::slider_text(*row.knob, position);
  }
  if (value != row.value) commands.push_back(state::SetKnob{std::string(row.knob->name), value});
}

}  // namespace

float knob_row_height(const kit::Theme& theme, float width, const present::KnobRow& row,
                      const KnobRowExtras& extras) {
  switch (row.kind) {
    case present::KnobRow::Kind::kHeading:
      return theme.px(32);
    case present::KnobRow::Kind::kMore:
      return theme.px(26);
    case present::KnobRow::Kind::kStrategies:  // as high as its figures
    case present::KnobRow::Kind::kKnob:
      break;
  }
  float height = theme.px(kRow);
  if (row.control == present::KnobControl::kSliderInput) height += theme.px(kSlider);
  if (extras.chart != nullptr) height += knob_chart_height(theme);
  if (!extras.no_curve.empty()) height += theme.px(kNote);
  if (row.changed) height += theme.px(kNote);
  if (extras.hint) height += theme.px(kNote);
  for (const std::string& below : {row.note, row.problem}) {
    if (below.empty()) continue;
    height += kit::wrapped_height(theme, kit::Face::kSmall, width, below) + theme.px(kBelowText);
  }
  return height;
}

void draw_knob_row(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                   const KnobRowExtras& extras, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  state::Rect line = rest.take_top(theme.px(kRow));
  const float control_height = theme.px(26);
  const state::Rect control = line.take_right(control_width(theme, rect.w, row), theme.px(8));
  draw_labels(theme, line, row);
  draw_sweep_link(theme, line, row, commands);
  explain_knob(theme, line, row, extras.snapshot);
  draw_control(theme, control.inset(0, (control.h - control_height) / 2), row, commands);
  if (extras.chart != nullptr) {
    draw_knob_chart(theme, rest.take_top(knob_chart_height(theme)), row, *extras.chart, commands);
  }
  if (row.control == present::KnobControl::kSliderInput) {
    draw_slider(theme, rest.take_top(theme.px(kSlider)), row, commands);
  }
  if (!extras.no_curve.empty()) {
    const state::Rect note = rest.take_top(theme.px(kNote));
    kit::note_in(theme, note, extras.no_curve);
    kit::explain(theme, note, row.knob->label, extras.no_curve);
  }
  if (row.changed) {
    state::Rect note = rest.take_top(theme.px(kNote));
    const float undo = kit::text_width(theme, kit::Face::kSmall, "Undo");
    const state::Rect undo_box = note.take_right(undo, theme.px(8));
    if (kit::link(theme, "undo/" + std::string(row.knob->name), undo_box, p.accent_text, "Undo")) {
      commands.push_back(state::ResetKnob{std::string(row.knob->name)});
    }
    kit::note_in(theme, note, row.before);
  }
  if (extras.hint) draw_hint(theme, rest.take_top(theme.px(kNote)), row, *extras.hint, commands);
  if (!row.note.empty()) {
    kit::take_wrapped(theme, rest, theme.px(kBelowText), kit::Face::kSmall, p.text_secondary,
                      row.note);
  }
  if (!row.problem.empty())
    kit::text_wrapped(theme, rest, kit::Face::kSmall, p.danger, row.problem);
}

}  // namespace shardlens::ui::tune
