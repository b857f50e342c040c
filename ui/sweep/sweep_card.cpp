#include "ui/sweep/sweep_card.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/text.h"
#include "trace/job/shape/strategy.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"
#include "ui/present/sweep/sweep_words.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::ui::sweep {

namespace {

constexpr float kWidest = 720, kMargin = 16, kPadding = 20, kTitleRow = 34, kAxisRow = 34;
constexpr float kLine = 20, kField = 28, kKnobField = 230, kButtons = 36;
// More are counted.
constexpr std::size_t kMostRefusals = 6, kMostLeftOut = 2;
constexpr std::size_t kMostAxes = 4;
constexpr int kMostRepeats = 100;

std::vector<std::string_view> knob_names() {
  std::vector<std::string_view> names;
  for (const trace::job::Knob& knob : trace::job::knobs()) names.push_back(knob.name);
  return names;
}

constexpr std::string_view kGoalNames[] = {"step_time", "tokens_per_s", "memory"};
constexpr int kLongestSearchMinutes = 7 * 24 * 60;

std::string_view title_of(const state::SweepDraft& draft) {
  return draft.search ? "Search" : "Sweep";
}

std::string_view subtitle_of(const state::SweepDraft& draft) {
  return draft.search ? "Runs the settings in Tune, predicts the others, and runs what may win"
                      : "Every combination of these values, all else as in Tune, in random order";
}

std::string_view start_label(const state::SweepDraft& draft) {
  return draft.search ? "Start the search" : "Start the sweep";
}

// A whole number from 1 to `most`; none: it is something else.
std::optional<int> count_in(const std::string& text, int most) {
  const auto count = trace::base::number_from<int>(text);
  return count ? std::optional(std::clamp(*count, 1, most)) : std::nullopt;
}

bool has_trainer(const state::Snapshot& snapshot) {
  return snapshot.trainer.state == state::TrainerSetup::State::kReady;
}

// Lines below the fields: what is wrong and what is left out, each with its colour.
struct CardLine {
  std::string text;
  bool is_problem = false;
};

std::vector<CardLine> lines_of(const state::SweepCard& card, const state::Snapshot& snapshot) {
  std::vector<CardLine> lines;
  if (!card.problem.empty()) lines.push_back({card.problem, true});
  for (std::size_t i = 0; i < std::min(card.refused.size(), kMostRefusals); ++i) {
    lines.push_back({card.refused[i].point + ": " + card.refused[i].reason, true});
  }
  if (card.refused.size() > kMostRefusals) {
    lines.push_back(
        {"and " + std::to_string(card.refused.size() - kMostRefusals) + " more points", true});
  }
  for (std::size_t i = 0; i < std::min(card.doubles.size(), kMostLeftOut); ++i) {
    lines.push_back({"Left out: " + card.doubles[i]});
  }
  if (card.doubles.size() > kMostLeftOut) {
    lines.push_back({"and " + std::to_string(card.doubles.size() - kMostLeftOut) + " more"});
  }
  if (snapshot.notice_is_error) lines.push_back({snapshot.notice, true});
  if (snapshot.sweep && !snapshot.sweep->running.empty()) {
    lines.push_back({"The sweep “" + snapshot.sweep->running + "” runs: one at a time", true});
  }
  if (!has_trainer(snapshot)) lines.push_back({present::why_no_start(snapshot), true});
  return lines;
}

float lines_height(const kit::Theme& theme, float width, const std::vector<CardLine>& lines) {
  float height = 0;
  for (const CardLine& line : lines) {
    height += kit::wrapped_height(theme, kit::Face::kSmall, width, line.text) + theme.px(6);
  }
  return height;
}

void draw_title(const kit::Theme& theme, state::Rect row, const state::SweepDraft& draft,
                state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::Rect close = row.take_right(theme.px(28)).inset(0, (row.h - theme.px(28)) / 2);
  if (kit::icon_button(theme, "sweep/close", close, kit::Shape::kCross)) {
    commands.push_back(state::CloseSweepCard{});
  }
  const float title = kit::text_in(theme, row, kit::Face::kTitle, p.text, title_of(draft));
  row.take_left(title, theme.px(16));
  kit::label_in(theme, row, kit::Face::kBody, p.text_muted, subtitle_of(draft));
}

// One setting that varies; true where it was edited or removed.
bool draw_axis(const kit::Theme& theme, state::Rect row, const state::Snapshot& snapshot,
               state::SweepDraft& draft, std::size_t index) {
  const std::string name = "sweep/axis/" + std::to_string(index);
  state::SweepAxis& axis = draft.axes[index];
  row = row.inset(0, (row.h - theme.px(kField)) / 2);
  bool edited = false;
  if (draft.axes.size() > 1 || draft.search) {
    if (kit::icon_button(theme, name + "/remove", row.take_right(theme.px(28), theme.px(6)),
                         kit::Shape::kCross)) {
      draft.axes.erase(draft.axes.begin() + static_cast<std::ptrdiff_t>(index));
      return true;
    }
  }
  const state::Rect knob_box =
      row.take_left(std::min(theme.px(kKnobField), row.w / 2), theme.px(8));
  std::string knob = axis.knob;
  if (kit::choice_field(theme, name + "/knob", knob_box, knob, knob_names(), false)) {
    const auto* found = trace::job::find_knob(knob);
    axis.knob = knob;
    axis.values = found ? present::proposed_values(*found, snapshot.knobs.next) : "";
    edited = true;
  }
  const auto* known = trace::job::find_knob(axis.knob);
  const std::string unit(known ? known->unit : "");
  edited |= kit::input_field(theme, name + "/values", row, axis.values, unit);
  if (known) {
    kit::explain(theme, row, "Values of " + std::string(known->label),
                 "Separated by commas; by ; where a value contains commas. Takes " +
                     trace::job::range_text(*known));
  }
  return edited;
}

// A setting that is not varied yet, and that does something.
void add_axis(const state::Snapshot& snapshot, state::SweepDraft& draft) {
  const auto is_varied = [&](std::string_view name) {
    return std::ranges::any_of(draft.axes, [&](const auto& axis) { return axis.knob == name; });
  };
  const trace::job::Settings& next = snapshot.knobs.next;
  for (const std::string_view name :
       {"bucket_cap_mb", "overlap_comm", "backward_prefetch", "forward_prefetch", "batch_per_rank",
        "ranks", "gradient_accumulation_steps", "precision"}) {
    const auto* knob = trace::job::find_knob(name);
    const bool may_act =
        is_varied("sharding_strategy") || trace::job::without_effect_with(*knob, next).empty();
    if (is_varied(name) || !may_act) continue;
    draft.axes.push_back({std::string(name), present::proposed_values(*knob, next)});
    return;
  }
}

float labelled(const kit::Theme& theme, state::Rect& row, std::string_view label) {
  const float width = kit::text_width(theme, kit::Face::kSmall, label);
  const state::Rect box = row.take_left(width, theme.px(6));
  return kit::text_in(theme, box, kit::Face::kSmall, theme.colors().text_secondary, label);
}

// In the place of the settings that vary, where a search chooses them itself.
void draw_own_choice(const kit::Theme& theme, const state::Rect& row) {
  kit::label_in(theme, row, kit::Face::kBody, theme.colors().text_secondary,
                "Tries the strategies that train the same, each with the settings that it obeys");
  kit::explain(theme, row, "What is tried",
               "For step_time caps of buckets, prefetches and limits of gathers; for memory "
               "recomputation and views of buckets; for tokens_per_s batches, too, which change "
               "what a step learns. Or vary settings of your choice");
}

bool draw_name(const kit::Theme& theme, state::Rect& row, const state::SweepCard& card,
               state::SweepDraft& draft) {
  labelled(theme, row, "Name");
  std::string name = draft.name.empty() ? card.name : draft.name;
  if (!kit::input_field(theme, "sweep/name", row.take_left(theme.px(200), theme.px(16)), name,
                        "")) {
    return false;
  }
  draft.name = name;
  return true;
}

bool draw_search_options(const kit::Theme& theme, state::Rect row, const state::SweepCard& card,
                         state::SweepDraft& draft) {
  row = row.inset(0, (row.h - theme.px(kField)) / 2);
  bool edited = draw_name(theme, row, card, draft);
  labelled(theme, row, "Goal");
  edited |= kit::choice_field(theme, "sweep/goal", row.take_left(theme.px(130), theme.px(16)),
                              draft.search->goal, kGoalNames, false);
  labelled(theme, row, "At most");
  std::string minutes = std::to_string(draft.search->budget_minutes);
  if (kit::input_field(theme, "sweep/budget", row.take_left(theme.px(90)), minutes, "min")) {
    const auto count = count_in(minutes, kLongestSearchMinutes);
    if (count) draft.search->budget_minutes = *count;
    edited |= count.has_value();
  }
  return edited;
}

bool draw_options(const kit::Theme& theme, state::Rect row, const state::SweepCard& card,
                  state::SweepDraft& draft) {
  if (draft.search) return draw_search_options(theme, row, card, draft);
  row = row.inset(0, (row.h - theme.px(kField)) / 2);
  bool edited = draw_name(theme, row, card, draft);
  labelled(theme, row, "Each point");
  std::string repeats = std::to_string(draft.repeats);
  if (kit::input_field(theme, "sweep/repeats", row.take_left(theme.px(86), theme.px(16)), repeats,
                       draft.repeats == 1 ? "time" : "times")) {
    const auto count = count_in(repeats, kMostRepeats);
    if (count) draft.repeats = *count;
    edited |= count.has_value();
  }
  const state::Rect tick = row.take_left(theme.px(22), theme.px(6));
  edited |= kit::checkbox(theme, "sweep/early_stop", tick, draft.stops_early);
  kit::text_in(theme, row, kit::Face::kSmall, theme.colors().text_secondary,
               "Stop early what cannot win");
  kit::explain(theme, row, "Stop early",
               "A point that is slower than the best beyond noise, at 99 %, is not run again. It "
               "takes three times each to stop anything");
  return edited;
}

void draw_lines(const kit::Theme& theme, state::Rect rest, const std::vector<CardLine>& lines) {
  const state::Palette& p = theme.colors();
  for (const CardLine& line : lines) {
    const float height = kit::wrapped_height(theme, kit::Face::kSmall, rest.w, line.text);
    kit::text_wrapped(theme, rest.take_top(height, theme.px(6)), kit::Face::kSmall,
                      line.is_problem ? p.danger : p.text_muted, line.text);
  }
}

void draw_buttons(const kit::Theme& theme, state::Rect row, const state::Snapshot& snapshot,
                  state::SweepDraft& draft, bool& edited, state::Commands& commands) {
  const state::SweepCard& card = *snapshot.sweep->card;
  const bool can_start =
      card.can_start() && snapshot.sweep->running.empty() && has_trainer(snapshot);
  const auto label = start_label(draft);
  const float start = kit::button_width(theme, label, kit::ButtonKind::kPrimary) + theme.px(24);
  if (kit::button(theme, "sweep/start", row.take_right(start, theme.px(8)),
                  kit::ButtonKind::kPrimary, label, can_start)) {
    commands.push_back(state::StartSweep{});
  }
  if (kit::button_at_right(theme, "sweep/cancel", row, kit::ButtonKind::kGhost, "Cancel")) {
    commands.push_back(state::CloseSweepCard{});
  }
  if (draft.axes.size() >= kMostAxes) return;
  const std::string_view add = draft.axes.empty() ? "Choose what varies" : "Vary another setting";
  const float more = kit::button_width(theme, add);
  if (kit::button(theme, "sweep/add", row.take_left(more), kit::ButtonKind::kQuiet, add)) {
    add_axis(snapshot, draft);
    edited = true;
  }
}

}  // namespace

void draw_sweep_card(const kit::Theme& theme, const state::Rect& window,
                     const state::Snapshot& snapshot, state::Commands& commands) {
  if (!snapshot.sweep || !snapshot.sweep->card) return;
  const state::SweepCard& card = *snapshot.sweep->card;
  const float width = std::min(theme.px(kWidest), window.w - 2 * theme.px(kMargin));
  const float padding = theme.px(kPadding);
  const auto lines = lines_of(card, snapshot);
  const float content = width - 2 * padding;
  const float wanted =
      2 * padding + theme.px(kTitleRow + 8 + kAxisRow + 8 + kLine + 12 + kButtons + 12) +
      theme.px(kAxisRow) * static_cast<float>(std::max<std::size_t>(card.draft.axes.size(), 1)) +
      lines_height(theme, content, lines);
  const float height = std::min(wanted, window.h - 2 * theme.px(kMargin));
  const state::Rect box{window.center_x() - width / 2, std::round(window.center_y() - height / 2),
                        width, height};
  const kit::Overlay overlay(theme, "##sweep", window, box);
  state::Rect rest = box.inset(padding, padding);
  state::SweepDraft draft = card.draft;
  bool edited = false;
  draw_title(theme, rest.take_top(theme.px(kTitleRow), theme.px(8)), draft, commands);
  if (draft.axes.empty()) draw_own_choice(theme, rest.take_top(theme.px(kAxisRow)));
  for (std::size_t i = 0; i < draft.axes.size(); ++i) {
    edited |= draw_axis(theme, rest.take_top(theme.px(kAxisRow)), snapshot, draft, i);
  }
  edited |= draw_options(theme, rest.take_top(theme.px(kAxisRow), theme.px(8)), card, draft);
  draw_buttons(theme, rest.take_bottom(theme.px(kButtons), theme.px(12)), snapshot, draft, edited,
               commands);
  kit::text_in(theme, rest.take_top(theme.px(kLine), theme.px(8)), kit::Face::kBody,
               theme.colors().text, present::sweep_cost_text(card));
  draw_lines(theme, rest, lines);
  if (edited) commands.push_back(state::EditSweep{draft});
  if (overlay.wants_to_close()) commands.push_back(state::CloseSweepCard{});
}

}  // namespace shardlens::ui::sweep
