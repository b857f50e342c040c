#include "ui/tune/advice_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/tuning/predictable.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/tune/advice_text.h"

namespace shardlens::ui::tune {

namespace {

using trace::advice::Advice;

constexpr float kMarkWidth = 16, kButtonHeight = 24, kRowGap = 14, kLineGap = 3, kNarrowRow = 260;
constexpr float kScrollBar = 4;
constexpr float kColumn = 380;  // least width of one, in the dock

float buttons_width(const kit::Theme& theme) {
  return std::max(kit::button_width(theme, "Try it"), kit::button_width(theme, "Show"));
}

// In a narrow column buttons stand between the words, else at their right.
bool are_buttons_below(const kit::Theme& theme, float width) {
  return width < theme.px(kNarrowRow);
}

float text_column(const kit::Theme& theme, float width) {
  const float beside = are_buttons_below(theme, width) ? 0 : buttons_width(theme) + theme.px(8);
  return width - theme.px(kMarkWidth) - beside;
}

double mean_step_ns(const state::Snapshot& snapshot) {
  return snapshot.run ? snapshot.run->figures.summary.step_ns.mean : 0;
}

std::string reasons(const present::AdviceRow& row) {
  return row.unknown.empty() ? row.why : row.why + " " + row.unknown;
}

float row_height(const kit::Theme& theme, float width, const present::AdviceRow& row,
                 bool has_changes) {
  const float column = text_column(theme, width);
  const float text = kit::wrapped_height(theme, kit::Face::kMedium, column, row.title) +
                     kit::wrapped_height(theme, kit::Face::kSmall, column, row.gain) +
                     kit::wrapped_height(theme, kit::Face::kSmall, column, reasons(row)) +
                     2 * theme.px(kLineGap);
  if (are_buttons_below(theme, width)) return text + theme.px(kButtonHeight + 2 * kLineGap);
  return std::max(text, theme.px(kButtonHeight) * (has_changes ? 2 : 1) + theme.px(6));
}

// The knobs for the next run are as it says.
bool is_set(const Advice& advice, const trace::job::Settings& next) {
  return std::ranges::all_of(advice.changes, [&](const auto& change) {
    const trace::job::Knob* knob = trace::job::find_knob(change.knob);
    return knob != nullptr && trace::job::value_text(next, *knob) == change.value;
  });
}

// The next run is of another job than the run that is advised on, whatever advice was taken: what
// was said of that one says nothing of it.
bool is_of_another_job(const state::Snapshot& snapshot) {
  if (!snapshot.run || snapshot.run->figures.info.folder != snapshot.advice->folder) return false;
  const trace::model::RunInfo& info = snapshot.run->figures.info;
  if (!trace::model::has_settings(info)) return false;
  trace::job::Settings next = snapshot.knobs.next;
  for (const Advice& advice : snapshot.advice->advice) {
    for (const auto& change : advice.changes) {
      const trace::job::Knob* knob = trace::job::find_knob(change.knob);
      if (knob != nullptr) trace::job::copy_value(*knob, info.settings, next);
    }
  }
  return !trace::tuning::other_job_knob(info, next).empty();
}

// With its settings, where the next run has those of another job.
void try_it(const Advice& advice, const state::Snapshot& snapshot, state::Commands& commands) {
  if (is_of_another_job(snapshot)) {
    commands.push_back(state::CopySettings{snapshot.advice->folder});
  }
  for (const auto& change : advice.changes) {
    commands.push_back(state::SetKnob{change.knob, change.value});
  }
}

void draw_explanation(const kit::Theme& theme, const Advice& advice,
                      const present::AdviceRow& row) {
  const kit::TooltipScope scope(theme);
  scope.title(row.title);
  scope.row(row.is_predicted ? "Predicted" : "Measured", row.gain);
  if (row.is_predicted) scope.row("Measured", advice.measured);
  if (!row.changes.empty()) scope.row("Sets", row.changes);
  scope.note(reasons(row));
  for (const auto& evidence : advice.evidence) scope.note(present::evidence_text(evidence));
}

// What is said in place of rows; "": there are some.
std::string text_without_rows(const state::Snapshot& snapshot) {
  if (snapshot.replay.active) return "This is said of a whole run, not of one that is replayed";
  if (!snapshot.advice) return snapshot.run ? "Looking at the run…" : "No run to look at";
  if (!snapshot.advice->advice.empty()) return "";
  const std::string not_tried = present::not_tried_text(*snapshot.advice);
  return present::no_advice_text(*snapshot.advice) + (not_tried.empty() ? "" : ". " + not_tried);
}

bool draw_without_rows(const kit::Theme& theme, const state::Rect& area,
                       const state::Snapshot& snapshot) {
  const std::string text = text_without_rows(snapshot);
  if (text.empty()) return false;
  kit::text_wrapped(theme, area, kit::Face::kSmall, theme.colors().text_muted, text);
  return true;
}

}  // namespace

std::string advice_title(const state::Snapshot& snapshot) {
  const std::size_t count = snapshot.advice ? snapshot.advice->advice.size() : 0;
  return count == 0 ? "What would help" : "What would help · " + std::to_string(count);
}

std::optional<trace::advice::Evidence> AdvicePanel::take_shown() {
  return std::exchange(shown_, std::nullopt);
}

// Each click goes on to the next of several.
void AdvicePanel::show(const Advice& advice, state::Commands& commands) {
  std::size_t& next = of_run_.next[advice.rule];
  shown_ = advice.evidence[next % advice.evidence.size()];
  next = (next + 1) % advice.evidence.size();
  commands.push_back(state::SelectStep{shown_->step});
}

void AdvicePanel::draw_buttons(const kit::Theme& theme, state::Rect area, const Advice& advice,
                               const state::Snapshot& snapshot, state::Commands& commands) {
  const bool below = area.w > buttons_width(theme);
  const auto next_box = [&] {
    return below ? area.take_left(buttons_width(theme), theme.px(8))
                 : area.take_top(theme.px(kButtonHeight), theme.px(4));
  };
  const std::string name = "advice/" + std::string(advice.rule);
  if (!advice.changes.empty()) {
    const bool done = is_set(advice, snapshot.knobs.next) && !is_of_another_job(snapshot);
    if (kit::button(theme, name + "/try", next_box(), kit::ButtonKind::kQuiet,
                    done ? "Set" : "Try it", !done)) {
      try_it(advice, snapshot, commands);
    }
  }
  if (advice.evidence.empty() || advice.evidence.front().step < 0) return;
  if (kit::button(theme, name + "/show", next_box(), kit::ButtonKind::kQuiet, "Show")) {
    show(advice, commands);
  }
}

void AdvicePanel::draw_row(const kit::Theme& theme, const state::Rect& rect, const Advice& advice,
                           const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const present::AdviceRow row = present::advice_row(advice, mean_step_ns(snapshot));
  state::Rect text = rect;
  const state::Rect mark = text.take_left(theme.px(kMarkWidth));
  const float first_line = kit::wrapped_height(theme, kit::Face::kMedium, text.w, "x");
  kit::shape(kit::Shape::kDot, mark.x + theme.px(5), mark.y + first_line / 2, theme.px(7),
             kit::color(row.is_predicted ? p.changed : p.idle_edge));
  const bool below = are_buttons_below(theme, rect.w);
  state::Rect buttons;
  if (!below) buttons = text.take_right(buttons_width(theme), theme.px(8));
  if (kit::hovers(text)) draw_explanation(theme, advice, row);
  const auto paragraph = [&](kit::Face face, state::Rgb ink, const std::string& words) {
    kit::take_wrapped(theme, text, theme.px(kLineGap), face, ink, words);
  };
  paragraph(kit::Face::kMedium, p.text, row.title);
  paragraph(kit::Face::kSmall, row.is_predicted ? p.text : p.text_secondary, row.gain);
  if (below) buttons = text.take_top(theme.px(kButtonHeight), theme.px(2 * kLineGap));
  draw_buttons(theme, buttons, advice, snapshot, commands);
  paragraph(kit::Face::kSmall, p.text_muted, reasons(row));
}

float AdvicePanel::draw_rows(const kit::Theme& theme, const state::Rect& body, std::size_t columns,
                             const state::Snapshot& snapshot, state::Commands& commands) {
  if (of_run_.folder != snapshot.advice->folder) of_run_ = {snapshot.advice->folder, {}};
  const float gap = theme.px(24);
  const auto count = static_cast<float>(columns);
  const float width = std::floor((body.w - gap * (count - 1)) / count);
  std::vector<float> ends(columns, 0);
  for (const Advice& advice : snapshot.advice->advice) {
    const auto column = static_cast<std::size_t>(std::ranges::min_element(ends) - ends.begin());
    const present::AdviceRow row = present::advice_row(advice, mean_step_ns(snapshot));
    const float height = row_height(theme, width, row, !advice.changes.empty());
    const float x = body.x + (width + gap) * static_cast<float>(column);
    draw_row(theme, {x, body.y + ends[column], width, height}, advice, snapshot, commands);
    ends[column] += height + theme.px(kRowGap);
  }
  const float end = std::ranges::max(ends);
  const state::Rect foot{body.x, body.y + end, body.w, body.h};
  return end + kit::text_wrapped(theme, foot, kit::Face::kSmall, theme.colors().text_muted,
                                 present::not_tried_text(*snapshot.advice));
}

void AdvicePanel::draw(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot, state::Commands& commands) {
  const std::string title = advice_title(snapshot);
  const kit::Panel panel(theme, "advice", rect,
                         {.title = title, .note = "from this run", .scrolls = true});
  if (draw_without_rows(theme, panel.body, snapshot)) return;
  state::Rect body = panel.body;
  body.w -= theme.px(kScrollBar);
  panel.content_height(draw_rows(theme, body, 1, snapshot, commands));
}

void AdvicePanel::draw_wide(const kit::Theme& theme, const state::Rect& rect,
                            const state::Snapshot& snapshot, state::Commands& commands) {
  const kit::Panel panel(theme, "advice rows", rect, {.scrolls = true, .plain = true});
  if (draw_without_rows(theme, panel.body, snapshot)) return;
  state::Rect body = panel.body;
  body.w -= theme.px(kScrollBar + 4);
  const auto columns = static_cast<std::size_t>(std::max(1.0f, body.w / theme.px(kColumn)));
  panel.content_height(draw_rows(theme, body, columns, snapshot, commands));
}

}  // namespace shardlens::ui::tune
