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

float choice_width(const Look& look, std::string_view choice) {
  return std::ceil(text_width(look, Face::kMono, choice)) + look.px(kBesideChoice);
}

// The control's own strip at the right of the row: wide enough for every choice, or where that
// leaves too little for the labels, for the one that is set.
float control_width(const Look& look, float row_width, const KnobRow& row) {
  if (row.control == KnobControl::kCheckbox) return look.px(kCheckboxWidth);
  if (row.control != KnobControl::kChoice) return look.px(kControlWidth);
  const float labels = std::max(text_width(look, Face::kBody, row.knob->label),
                                text_width(look, Face::kSmall, row.knob->name));
  const float room = row_width - labels - look.px(8);
  // A path may be longer than the row.
  const float set = std::clamp(choice_width(look, row.value), look.px(kChoiceWidth),
                               std::max(look.px(kChoiceWidth), room));
  float longest = set;
  for (const auto choice : row.knob->choices) {
    longest = std::max(longest, choice_width(look, choice));
  }
  return longest <= room ? longest : set;
}

std::string unit_in_field(const Look& look, const KnobRow& row) {
  const float left = look.px(kControlWidth - 22) - text_width(look, Face::kMono, row.value);
  const std::string unit(row.knob->unit);
  return text_width(look, Face::kSmall, unit) <= left ? unit : "";
}

void draw_labels(const Look& look, const Rect& box, const KnobRow& row) {
  const Palette& p = look.colors();
  Rect lines = box.inset(0, look.px(3));
  const Rect first = lines.take_top(lines.h * 0.55f);
  text_in(look, first, Face::kBody, row.changed ? p.changed : p.text, row.knob->label);
  text_in(look, lines, Face::kSmall, p.text_muted, row.knob->name);
}

void explain_knob(const Look& look, const Rect& box, const KnobRow& row) {
  if (!hovers(box)) return;
  const trace::Knob& knob = *row.knob;
  const TooltipScope scope(look);
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

void draw_control(const Look& look, const Rect& box, const KnobRow& row, Commands& commands) {
  const std::string name = "knob/" + std::string(row.knob->name);
  std::string value = row.value;
  bool edited = false;
  switch (row.control) {
    case KnobControl::kCheckbox: {
      bool on = value == "true";
      edited = checkbox(look, name, box, on, row.changed);
      value = on ? "true" : "false";
      break;
    }
    case KnobControl::kChoice:
      edited = choice_field(look, name, box, value, row.knob->choices, row.knob->choices_are_open,
                            row.changed);
      break;
    case KnobControl::kInput:
    case KnobControl::kSliderInput:
      edited = input_field(look, name, box, value, unit_in_field(look, row), row.changed);
      break;
  }
  if (edited) commands.push_back(SetKnob{std::string(row.knob->name), value});
}

void draw_slider(const Look& look, const Rect& box, const KnobRow& row, Commands& commands) {
  float position = slider_position(*row.knob, std::strtod(row.value.c_str(), nullptr));
  const std::string name = "slider/" + std::string(row.knob->name);
  if (!slider(look, name, box, position, row.changed)) return;
  const std::string value = slider_text(*row.knob, position);
  if (value != row.value) commands.push_back(SetKnob{std::string(row.knob->name), value});
}

}  // namespace

float knob_row_height(const Look& look, float width, const KnobRow& row) {
  switch (row.kind) {
    case KnobRow::Kind::kHeading:
      return look.px(32);
    case KnobRow::Kind::kMore:
      return look.px(26);
    case KnobRow::Kind::kStrategies:  // as high as its figures
    case KnobRow::Kind::kKnob:
      break;
  }
  float height = look.px(kRow);
  if (row.control == KnobControl::kSliderInput) height += look.px(kSlider);
  if (row.changed) height += look.px(kNote);
  for (const std::string& below : {row.note, row.problem}) {
    if (below.empty()) continue;
    height += wrapped_height(look, Face::kSmall, width, below) + look.px(kBelowText);
  }
  return height;
}

void draw_knob_row(const Look& look, const Rect& rect, const KnobRow& row, Commands& commands) {
  const Palette& p = look.colors();
  Rect rest = rect;
  Rect line = rest.take_top(look.px(kRow));
  const float control_height = look.px(26);
  const Rect control = line.take_right(control_width(look, rect.w, row), look.px(8));
  draw_labels(look, line, row);
  explain_knob(look, line, row);
  draw_control(look, control.inset(0, (control.h - control_height) / 2), row, commands);
  if (row.control == KnobControl::kSliderInput) {
    draw_slider(look, rest.take_top(look.px(kSlider)), row, commands);
  }
  if (row.changed) {
    Rect note = rest.take_top(look.px(kNote));
    const float undo = text_width(look, Face::kSmall, "Undo");
    const Rect undo_box = note.take_right(undo, look.px(8));
    const Hit hit = hit_area(look, "undo/" + std::string(row.knob->name), undo_box);
    text_in(look, undo_box, Face::kSmall, hit.hovered ? p.text : p.accent_text, "Undo");
    if (hit.clicked) commands.push_back(ResetKnob{std::string(row.knob->name)});
    text_in(look, note, Face::kSmall, p.text_muted, row.before);
  }
  if (!row.note.empty()) {
    const float height = wrapped_height(look, Face::kSmall, rect.w, row.note);
    text_wrapped(look, rest.take_top(height, look.px(kBelowText)), Face::kSmall, p.text_secondary,
                 row.note);
  }
  if (!row.problem.empty()) text_wrapped(look, rest, Face::kSmall, p.danger, row.problem);
}

}  // namespace shardlens::ui
