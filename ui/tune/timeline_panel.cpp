#include "ui/tune/timeline_panel.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trace/analysis/figures/run_summary.h"
#include "trace/job/settings/grammars.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/step_chart.h"
#include "ui/present/tune/prediction_text.h"
#include "ui/tune/prediction/predicted_step.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kHelpHeight = 20;

struct HelpEntry {
  enum class Mark { kFilled, kHollow, kShape } mark;
  state::Rgb hue;
  std::string_view label, brief;  // brief in a small window
  kit::Shape shape = kit::Shape::kDown;
};

bool has_units(const trace::timeline::StepPicture& step) {
  return std::ranges::find(step.rows->rows, "Units", &trace::timeline::TimelineRow::label) !=
         step.rows->rows.end();
}

// The entries of the legend, of what the step on screen has.
std::vector<HelpEntry> help_entries(const state::Palette& p,
                                    const trace::timeline::StepPicture& step) {
  using Mark = HelpEntry::Mark;
  using trace::timeline::RowKind;
  std::vector<HelpEntry> entries;
  if (step.rows->has(RowKind::kCommunication)) {
    entries = {{Mark::kFilled, p.overlapped, "overlapped communication", "overlapped"},
               {Mark::kFilled, p.exposed, "exposed", "exposed"},
               {Mark::kHollow, p.overlapped, "waiting for the last rank", "waiting"}};
  }
  if (!step.rows->has(RowKind::kReady)) return entries;
  if (!has_units(step)) {
    entries.push_back(
        {Mark::kShape, p.text_secondary, "a bucket's gradients are ready", "gradients are ready"});
    return entries;
  }
  entries.push_back(
      {Mark::kShape, p.text_secondary, "a unit's gradients are ready", "gradients are ready"});
  entries.push_back(
      {Mark::kShape, p.text_muted, "forward gather", "forward gather", kit::Shape::kRight});
  entries.push_back({Mark::kShape, p.text_muted, "backward gather; fainter: prefetched",
                     "backward; fainter: prefetched", kit::Shape::kLeft});
  return entries;
}

void draw_help_line(const kit::Theme& theme, state::Rect rect,
                    const trace::timeline::StepPicture& step) {
  const state::Palette& p = theme.colors();
  constexpr float kMark = 9;
  const auto entries = help_entries(p, step);
  float wanted = 0;
  for (const HelpEntry& entry : entries) {
    wanted += kit::legend_width(theme, kMark, entry.label) + theme.px(kit::kLegendGap);
  }
  const auto words = wanted > rect.w ? &HelpEntry::brief : &HelpEntry::label;
  for (const HelpEntry& entry : entries) {
    const state::Rect mark = kit::legend_entry(theme, rect, kMark, entry.*words, p.text_muted);
    if (mark.empty()) return;
    const state::Rect swatch = kit::swatch_in(mark);
    if (entry.mark == HelpEntry::Mark::kShape) {
      kit::shape(entry.shape, mark, theme.px(7), kit::color(entry.hue));
    } else if (entry.mark == HelpEntry::Mark::kFilled) {
      kit::fill(swatch, kit::color(entry.hue), theme.px(2));
    } else {
      kit::bordered(swatch, kit::color(state::mix(p.panel, entry.hue, 0.22)), kit::color(entry.hue),
                    theme.px(2));
    }
  }
}

std::string title_of(const state::Snapshot& snapshot, const trace::timeline::StepPicture* shown) {
  if (!snapshot.run || snapshot.run->selected_step < 0) return "Timeline";
  const std::int64_t step = shown != nullptr ? shown->step : snapshot.run->selected_step;
  return "Timeline · step " + present::format_integer(step);
}

// `shown`: null where there is no step yet.
std::string empty_text(const state::Snapshot& snapshot, const trace::timeline::StepPicture* shown) {
  if (snapshot.is_loading) return "Reading the run…";
  if (!snapshot.run) return "Press Start, or double-click a run below to replay it";
  const state::RunView& run = *snapshot.run;
  if (run.selected_step < 0) {
    return run.is_live ? "Waiting for the first step…" : "No step was recorded";
  }
  const bool without_detail = shown != nullptr;
  if (without_detail && shown->awaits_detail) {
    return std::string(present::missing_records(run.figures.info).reason);
  }
  if (without_detail && !run.figures.info.command.empty()) {
    return "This step has no kernels; its ranges and phases are in Inspect (Ctrl+2)";
  }
  if (without_detail && !run.figures.info.imported_from.empty()) {
    return "The trace does not tell where this step's time went; what it holds is in Inspect "
           "(Ctrl+2)";
  }
  const auto record = trace::job::parse_record_schedule(run.figures.info.settings.record);
  if (without_detail && record && record->includes(shown->step)) {
    return "This step was recorded without detail, though “Record” has it: the recording had ended "
           "or reached record_limit_mb. The log says more";
  }
  if (without_detail && std::ranges::none_of(run.figures.steps, trace::analysis::has_detail)) {
    return std::string("No step was recorded with detail") + (run.is_live ? " so far" : "") +
           "; set “Record” to every step";
  }
  if (without_detail) {
    return "This step was recorded without detail; choose another, or set “Record” to every step";
  }
  return "Reading step " + present::format_integer(run.selected_step) + "…";
}

void draw_follow(const kit::Theme& theme, state::Rect header, const state::Snapshot& snapshot,
                 state::Commands& commands) {
  if (!snapshot.run || !(snapshot.run->is_live || snapshot.replay.active)) return;
  const bool follows = snapshot.run->follows_live;
  const std::string_view label = follows ? "Following" : "Follow latest";
  const float width = kit::text_width(theme, kit::Face::kSmall, label) + theme.px(26);
  if (width > header.w) return;
  const state::Rect box = header.take_left(width).inset(0, (header.h - theme.px(22)) / 2);
  const state::Palette& p = theme.colors();
  const kit::Hit hit = kit::hit_area(theme, "timeline/follow", box);
  kit::bordered(box, kit::color(hit.hovered ? p.hover : p.field), kit::color(p.field_edge),
                box.h / 2);
  kit::shape(kit::Shape::kDot, box.x + theme.px(10), box.center_y(), theme.px(6),
             kit::color(follows ? p.good : p.idle_edge));
  kit::text_in(theme, {box.x + theme.px(18), box.y, box.w - theme.px(20), box.h}, kit::Face::kSmall,
               p.text_secondary, label);
  if (hit.hovered) {
    kit::tooltip(theme, "Follow", "Always shows the latest step of a run that goes on",
                 snapshot.replay.active ? "" : "Space");
  }
  if (hit.clicked)
    commands.push_back(state::SelectStep{follows ? snapshot.run->selected_step : -1});
}

}  // namespace

void TimelinePanel::go_to_wanted(const trace::timeline::StepPicture& step) {
  if (!wanted_ || wanted_->step != step.step) return;
  inspect::TimeWindow& window = board_.state().shown_window();
  if (wanted_->has_range()) {
    const std::int64_t origin = step.rows->start_ns;
    window.show(wanted_->start_ns - origin, wanted_->end_ns - origin, 0.25);
  } else {
    window.fit();
  }
  wanted_.reset();
}

void TimelinePanel::draw(const kit::Theme& theme, const state::Rect& rect,
                         const state::Snapshot& snapshot, bool keys, bool tells_mean,
                         state::Commands& commands) {
  const trace::timeline::StepPicture* const step =
      snapshot.run && snapshot.run->selected_step >= 0 ? snapshot.run->timeline.get() : nullptr;
  const bool current = step != nullptr && !step->rows->ranks.empty();
  const auto* prediction = snapshot.prediction.get();
  if (current) {
    board_.follow(snapshot.run->figures.info.folder, *step, predicted_end_ns(prediction, *step));
    go_to_wanted(*step);
  }
  const std::string title = title_of(snapshot, current ? step : nullptr);
  auto mean = tells_mean ? present::prediction_note(prediction, {}) : std::nullopt;
  if (mean && mean->is_refused) mean.reset();  // there is none, and no room for why
  const std::string_view note = board_.state().measuring ? "drag to measure · Esc ends"
                                : mean                   ? ""
                                       : "scroll to zoom · drag to pan · M measure · F fit";
  state::Rect header;
  {
    const kit::Panel panel(theme, "timeline", rect, {.title = title, .note = note});
    header = panel.header;
    state::Rect body = panel.body;
    if (current && step->has_detail) {
      draw_help_line(theme, body.take_bottom(theme.px(kHelpHeight)), *step);
      PredictedStepPlace place{body, board_.label_width(theme, body.w),
                               board_.state().shown_window(), step->rows->start_ns, step->step};
      place.rect = body.take_bottom(predicted_step_height(theme, place, prediction));
      board_.draw(theme, body, {}, keys, commands);
      if (place.rect.h > 0) draw_predicted_step(theme, place, *prediction);
    } else {
      kit::empty_note(theme, body, empty_text(snapshot, current ? step : nullptr));
    }
  }
  if (mean) {
    const float width = kit::label_in(theme, header, kit::Face::kMedium, theme.colors().changed,
                                      mean->title, kit::Align::kRight);
    header.take_right(width, theme.px(12));
  }
  draw_follow(theme, header, snapshot, commands);
}

}  // namespace shardlens::ui::tune
