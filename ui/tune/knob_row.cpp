#include "ui/tune/knob_row.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

constexpr float kRow = 38, kSlider = 18, kNote = 16, kBelowText = 6;
constexpr float kControlWidth = 112, kChoiceWidth = 136, kCheckboxWidth = 24, kBesideChoice = 32;

float choice_width(const Theme& theme, std::string_view choice) {
  return std::ceil(text_width(theme, Face::kMono, choice)) + theme.px(kBesideChoice);
}

// The control's own strip at the right of the row: wide enough for every choice, or where that
// leaves too little for the labels, for the one that is set.
float control_width(const Theme& theme, float row_width, const KnobRow& row) {
  if (row.control == KnobControl::kCheckbox) return theme.px(kCheckboxWidth);
  if (row.control != KnobControl::kChoice) return theme.px(kControlWidth);
  const float labels = std::max(text_width(theme, Face::kBody, row.knob->label),
                                text_width(theme, Face::kSmall, row.knob->name));
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

std::string unit_in_field(const Theme& theme, const KnobRow& row) {
  const float left = theme.px(kControlWidth - 22) - text_width(theme, Face::kMono, row.value);
  const std::string unit(row.knob->unit);
  return text_width(theme, Face::kSmall, unit) <= left ? unit : "";
}

void draw_labels(const Theme& theme, const Rect& box, const KnobRow& row) {
  const Palette& p = theme.colors();
  Rect lines = box.inset(0, theme.px(3));
  const Rect first = lines.take_top(lines.h * 0.55f);
  text_in(theme, first, Face::kBody, row.changed ? p.changed : p.text, row.knob->label);
  text_in(theme, lines, Face::kSmall, p.text_muted, row.knob->name);
}

void explain_knob(const Theme& theme, const Rect& box, const KnobRow& row) {
  if (!hovers(box)) return;
  const trace::Knob& knob = *row.knob;
  const TooltipScope scope(theme);
  scope.title(knob.label);
  scope.note(knob.explanation);
  scope.row(nullptr, "Setting", knob.name);
  const std::string range = trace::range_text(knob);
  if (range.size() <= 28) scope.row(nullptr, "Range", range);
  scope.row(nullptr, "Default", trace::default_text(knob));
  if (row.changed) scope.row(nullptr, "Before", row.before);
  if (!knob.applies_to.empty()) scope.row(nullptr, "Applies to", knob.applies_to);
  if (range.size() > 28) scope.note("Range: " + range);
}

void draw_control(const Theme& theme, const Rect& box, const KnobRow& row, Commands& commands) {
  const std::string name = "knob/" + std::string(row.knob->name);
  std::string value = row.value;
  bool edited = false;
  switch (row.control) {
    case KnobControl::kCheckbox: {
      bool on = value == "true";
      edited = checkbox(theme, name, box, on, row.changed);
      value = on ? "true" : "false";
      break;
    }
    case KnobControl::kChoice:
      edited = choice_field(theme, name, box, value, row.knob->choices, row.knob->choices_are_open,
                            row.changed);
      break;
    case KnobControl::kInput:
    case KnobControl::kSliderInput:
      edited = input_field(theme, name, box, value, unit_in_field(theme, row), row.changed);
      break;
  }
  if (edited) commands.push_back(SetKnob{std::string(row.knob->name), value});
}

void draw_slider(const Theme& theme, const Rect& box, const KnobRow& row, Commands& commands) {
  float position = slider_position(*row.knob, std::strtod(row.value.c_str(), nullptr));
  const std::string name = "slider/" + std::string(row.knob->name);
  if (!slider(theme, name, box, position, row.changed)) return;
  const std::string value = slider_text(*row.knob, position);
  if (value != row.value) commands.push_back(SetKnob{std::string(row.knob->name), value});
}

}  // namespace

float knob_row_height(const Theme& theme, float width, const KnobRow& row) {
  switch (row.kind) {
    case KnobRow::Kind::kHeading:
      return theme.px(32);
    case KnobRow::Kind::kMore:
      return theme.px(26);
    case KnobRow::Kind::kStrategies:  // as high as its figures
    case KnobRow::Kind::kKnob:
      break;
  }
  float height = theme.px(kRow);
  if (row.control == KnobControl::kSliderInput) height += theme.px(kSlider);
  if (row.changed) height += theme.px(kNote);
  for (const std::string& below : {row.note, row.problem}) {
    if (below.empty()) continue;
    height += wrapped_height(theme, Face::kSmall, width, below) + theme.px(kBelowText);
  }
  return height;
}

void draw_knob_row(const Theme& theme, const Rect& rect, const KnobRow& row, Commands& commands) {
  const Palette& p = theme.colors();
  Rect rest = rect;
  Rect line = rest.take_top(theme.px(kRow));
  const float control_height = theme.px(26);
  const Rect control = line.take_right(control_width(theme, rect.w, row), theme.px(8));
  draw_labels(theme, line, row);
  explain_knob(theme, line, row);
  draw_control(theme, control.inset(0, (control.h - control_height) / 2), row, commands);
  if (row.control == KnobControl::kSliderInput) {
    draw_slider(theme, rest.take_top(theme.px(kSlider)), row, commands);
  }
  if (row.changed) {
    Rect note = rest.take_top(theme.px(kNote));
    const float undo = text_width(theme, Face::kSmall, "Undo");
    const Rect undo_box = note.take_right(undo, theme.px(8));
    const Hit hit = hit_area(theme, "undo/" + std::string(row.knob->name), undo_box);
    text_in(theme, undo_box, Face::kSmall, hit.hovered ? p.text : p.accent_text, "Undo");
    if (hit.clicked) commands.push_back(ResetKnob{std::string(row.knob->name)});
    text_in(theme, note, Face::kSmall, p.text_muted, row.before);
  }
  if (!row.note.empty()) {
    const float height = wrapped_height(theme, Face::kSmall, rect.w, row.note);
    text_wrapped(theme, rest.take_top(height, theme.px(kBelowText)), Face::kSmall, p.text_secondary,
                 row.note);
  }
  if (!row.problem.empty()) text_wrapped(theme, rest, Face::kSmall, p.danger, row.problem);
}

}  // namespace shardlens::ui
