#include <algorithm>
#include <cmath>
#include <string>

#include "trace/job/shape/strategy.h"
#include "trace/model/run_info.h"
#include "ui/kit/widgets.h"
#include "ui/plan/estimate_draw.h"
#include "ui/present/format.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/tune/settings/knob_row.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kBarsHead = 20, kBarsRow = 26, kBarsFoot = 34;

struct StrategyScales {
  double memory = 1, sent = 1;  // bytes over a whole bar; 0: not known
  double step = 0;              // nanoseconds over a whole bar; 0: nothing is predicted
};

const trace::job::Knob& strategy_knob() {
  static const trace::job::Knob* const knob = trace::job::find_knob("sharding_strategy");
  return *knob;
}

const trace::tuning::CurvePoint* predicted(const state::Snapshot& snapshot,
                                           std::string_view strategy) {
  return present::predicted_choice(snapshot, strategy_knob(), strategy);
}

// What the report of such a run will say: the backend may send more than the algorithm needs.
std::int64_t sent_bytes(const trace::predict::StrategyPlan& plan) {
  return plan.traffic.executed_bytes();
}

StrategyScales scales_of(const state::Snapshot& snapshot) {
  const state::StrategyEstimates& estimates = *snapshot.knobs.estimates;
  StrategyScales scales;
  for (const trace::predict::StrategyPlan& plan : estimates.strategies) {
    if (!plan.refused.empty()) continue;
    scales.memory = std::max(scales.memory, static_cast<double>(plan.memory.total()));
    scales.sent = std::max(scales.sent, static_cast<double>(sent_bytes(plan)));
    const auto* point = predicted(snapshot, plan.name());
    if (point != nullptr) scales.step = std::max(scales.step, point->step_ns);
  }
  // Of another program's run steps are predicted, but what its model needs and sends is not that of
  // the settings for the next run.
  const bool is_of_another =
      snapshot.run && !trace::model::has_settings(snapshot.run->figures.info);
  if (is_of_another && scales.step > 0) scales.memory = scales.sent = 0;
  return scales;
}

struct StrategyColumns {
  state::Rect name, memory, last;  // the predicted step, or what is sent
};

StrategyColumns columns_in(const kit::Theme& theme, const state::Rect& row) {
  state::Rect rest = row;
  StrategyColumns out;
  rest.take_left(theme.px(8));
  out.name = rest.take_left(kit::text_width(theme, kit::Face::kMonoSmall, "hybrid_shard_zero2"),
                            theme.px(8));
  out.last = rest.take_right((rest.w - theme.px(10)) * 0.46f, theme.px(10));
  out.memory = rest;
  return out;
}

void draw_bars_head(const kit::Theme& theme, const state::Rect& rect,
                    const StrategyScales& scales) {
  const bool has_steps = scales.step > 0;
  const StrategyColumns columns = columns_in(theme, rect);
  kit::note_in(theme, columns.name, "Before the run");
  kit::note_in(theme, columns.memory, "Memory");
  kit::note_in(theme, columns.last, has_steps ? "Step" : "Sent");
  kit::explain(
      theme, columns.memory, "Peak of tensors",
      scales.memory > 0
          ? "Estimated for a rank, from the settings and the model's shape alone; without what "
            "lies outside PyTorch"
          : "The run on screen is of another program, whose trace does not tell its model's shape");
  if (has_steps) {
    kit::explain(theme, columns.last, "Predicted step time",
                 "From the run on screen, with the settings for the next run and that strategy");
  } else {
    kit::explain(theme, columns.last, "Bytes sent",
                 "By a rank in one step, as the backend runs the collectives");
  }
}

void draw_share(const kit::Theme& theme, const state::Rect& bar, double share, state::Rgb ink) {
  kit::fill(bar, kit::color(theme.colors().field), theme.px(2));
  if (!(share > 0)) return;
  const float width = std::max(2.0f, std::round(bar.w * static_cast<float>(share)));
  kit::fill({bar.x, bar.y, width, bar.h}, kit::color(ink), theme.px(2));
}

// A figure; returns where a bar under it goes.
state::Rect draw_figure(const kit::Theme& theme, state::Rect cell, state::Rgb ink,
                        const std::string& figure) {
  const state::Rect text_row = cell.take_top(theme.px(15));
  kit::text_in(theme, text_row, kit::Face::kMonoSmall, ink, figure);
  return {cell.x, cell.y + theme.px(1), cell.w, theme.px(5)};
}

void draw_memory(const kit::Theme& theme, state::Rect cell,
                 const trace::predict::StrategyPlan& plan, bool chosen,
                 const state::StrategyEstimates& estimates, double axis) {
  const state::Palette& p = theme.colors();
  const std::string shortage = present::shortage_text(plan, estimates.usable_bytes);
  const state::Rect area = cell;
  if (!shortage.empty()) {
    state::Rect mark = cell;
    mark = mark.take_top(theme.px(15)).take_right(theme.px(11));
    kit::shape(kit::Shape::kWarning, mark, theme.px(10), kit::color(p.danger));
  }
  const state::Rgb ink = !shortage.empty() ? p.danger : chosen ? p.text : p.text_secondary;
  const state::Rect bar =
      draw_figure(theme, cell, ink, present::bytes_or_zero(plan.memory.total()));
  plan::draw_estimate_bar(theme, bar, present::memory_parts(plan.memory), axis);
  if (!kit::hovers(area)) return;
  std::string note = shortage.empty() ? "" : shortage + " (" + estimates.device + "). ";
  note += "At the peak, in " + plan.memory.peak_place;
  plan::formula_tooltip(theme, std::string(plan.name()) + ": memory of a rank",
                        present::memory_lines(plan.memory), note);
}

void draw_sent(const kit::Theme& theme, const state::Rect& cell,
               const trace::predict::StrategyPlan& plan, bool chosen, double axis) {
  const state::Palette& p = theme.colors();
  const std::int64_t sent = sent_bytes(plan);
  const state::Rect bar =
      draw_figure(theme, cell, chosen ? p.text : p.text_secondary, present::bytes_or_zero(sent));
  draw_share(theme, bar, static_cast<double>(sent) / axis, p.text_muted);
  if (kit::hovers(cell)) {
    plan::formula_tooltip(theme, std::string(plan.name()) + ": sent by a rank in a step",
                          present::traffic_lines(plan.traffic));
  }
}

// What is sent explains it.
void draw_step(const kit::Theme& theme, const state::Rect& cell,
               const trace::predict::StrategyPlan& plan, const state::Snapshot& snapshot,
               const StrategyScales& scales) {
  const state::Palette& p = theme.colors();
  const auto* point = predicted(snapshot, plan.name());
  std::string note = "Not predicted from the run on screen";
  if (point == nullptr) {
    const std::string why = present::why_not_predicted(snapshot, strategy_knob(), plan.name());
    if (!why.empty()) note += ". " + why;
    kit::note_in(theme, cell, "unknown");
  } else {
    note = "Predicted step: " + present::choice_text(snapshot, strategy_knob(), *point);
    const state::Rect bar =
        draw_figure(theme, cell, p.changed, present::format_duration(point->step_ns).text());
    draw_share(theme, bar, point->step_ns / scales.step, state::mix(p.panel, p.changed, 0.6));
  }
  if (scales.sent <= 0) {
    kit::explain(theme, cell, plan.name(), note);
  } else if (kit::hovers(cell)) {
    plan::formula_tooltip(theme, std::string(plan.name()) + ": sent by a rank in a step",
                          present::traffic_lines(plan.traffic), note);
  }
}

void draw_strategy(const kit::Theme& theme, const state::Rect& rect,
                   const trace::predict::StrategyPlan& plan, const state::Snapshot& snapshot,
                   const StrategyScales& scales, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::KnobDraft& draft = snapshot.knobs;
  const bool chosen = plan.strategy == draft.next.sharding_strategy;
  const kit::Hit hit = kit::hit_area(theme, "strategy/" + std::string(plan.name()), rect);
  if (chosen || hit.hovered)
    kit::fill(rect, kit::color(chosen ? p.row_selected : p.hover), theme.px(4));
  if (chosen) {
    const bool changed = draft.baseline.sharding_strategy != draft.next.sharding_strategy;
    kit::fill({rect.x, rect.y + theme.px(3), theme.px(3), rect.h - theme.px(6)},
              kit::color(changed ? p.changed : p.accent), theme.px(1));
  }
  if (hit.clicked && !chosen) {
    commands.push_back(state::SetKnob{"sharding_strategy", std::string(plan.name())});
  }
  const StrategyColumns columns = columns_in(theme, rect);
  const bool refused = !plan.refused.empty();
  kit::text_in(theme, columns.name, kit::Face::kMonoSmall,
               refused  ? p.text_muted
               : chosen ? p.text
                        : p.text_secondary,
               plan.name());
  if (refused) {
    kit::note_in(theme, columns.memory, "refused");
    kit::explain(theme, rect, std::string(plan.name()) + " is refused", plan.refused);
    return;
  }
  const state::Rect low{0, rect.y + theme.px(2), 0, rect.h - theme.px(2)};
  const state::Rect memory{columns.memory.x, low.y, columns.memory.w, low.h};
  if (scales.memory > 0) {
    draw_memory(theme, memory, plan, chosen, *draft.estimates, scales.memory);
  } else {
    kit::note_in(theme, memory, "unknown");
  }
  const state::Rect last{columns.last.x, low.y, columns.last.w, low.h};
  if (scales.step > 0) {
    draw_step(theme, last, plan, snapshot, scales);
  } else {
    draw_sent(theme, last, plan, chosen, scales.sent);
  }
  kit::explain(theme, columns.name, plan.name(),
               trace::job::strategy_traits(plan.strategy).explanation, "Click chooses it");
}

// What the rows are of, where they are not of the model of the next run.
void draw_foot_text(const kit::Theme& theme, const state::Rect& foot,
                    const trace::job::TrainedShare& parameters, const StrategyScales& scales) {
  const bool is_of_form = scales.memory > 0;
  kit::text_in(theme, foot, kit::Face::kSmall, theme.colors().text_secondary,
               is_of_form ? present::parameters_text(parameters) : "Steps of the run on screen");
  if (!is_of_form) {
    return kit::explain(theme, foot, "Steps of the run on screen",
                        "Predicted from its trace, which does not tell its model: the model chosen "
                        "above is that of the next run, and another one");
  }
  kit::explain(theme, foot, "Parameters",
               present::format_integer(parameters.all) +
                   " values, shared ones counted once, adapters included; " +
                   present::format_integer(parameters.trained) + " of them are trained",
               "From the model's shape, before it is loaded");
}

}  // namespace

float strategy_bars_height(const kit::Theme& theme, const state::KnobDraft& draft) {
  if (!draft.estimates) return 0;
  return theme.px(kBarsHead) + theme.px(kBarsFoot) +
         theme.px(kBarsRow) * static_cast<float>(draft.estimates->strategies.size());
}

void draw_strategy_bars(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands) {
  const state::KnobDraft& draft = snapshot.knobs;
  if (!draft.estimates) return;
  const StrategyScales scales = scales_of(snapshot);
  state::Rect rest = rect;
  draw_bars_head(theme, rest.take_top(theme.px(kBarsHead)), scales);
  for (const trace::predict::StrategyPlan& plan : draft.estimates->strategies) {
    draw_strategy(theme, rest.take_top(theme.px(kBarsRow)), plan, snapshot, scales, commands);
  }
  const float width = kit::button_width(theme, "Plan…");
  state::Rect foot = rest.take_top(theme.px(kBarsFoot)).inset(0, theme.px(5));
  const state::Rect plan = foot.take_right(width, theme.px(8));
  if (kit::button(theme, "knobs/plan", plan, kit::ButtonKind::kQuiet, "Plan…")) {
    commands.push_back(state::ShowPlan{});
  }
  kit::explain(theme, plan, "Plan",
               "What every strategy would need on other GPUs and more machines", "P");
  foot.take_left(theme.px(8));
  draw_foot_text(theme, foot, draft.estimates->parameters, scales);
}

}  // namespace shardlens::ui::tune
