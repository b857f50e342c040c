#include "ui/tune/strategy_bars.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/job/shape/strategy.h"
#include "ui/kit/widgets.h"
#include "ui/plan/estimate_draw.h"
#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

constexpr float kBarsHead = 20, kBarsRow = 26, kBarsFoot = 34;

struct StrategyScales {
  double memory = 1, sent = 1;  // bytes over a whole bar
};

// What the report of such a run will say: the backend may send more than the algorithm needs.
std::int64_t sent_bytes(const trace::StrategyPlan& plan) { return plan.traffic.executed_bytes(); }

StrategyScales scales_of(const StrategyEstimates& estimates) {
  StrategyScales scales;
  for (const trace::StrategyPlan& plan : estimates.strategies) {
    if (!plan.refused.empty()) continue;
    scales.memory = std::max(scales.memory, static_cast<double>(plan.memory.total()));
    scales.sent = std::max(scales.sent, static_cast<double>(sent_bytes(plan)));
  }
  return scales;
}

struct StrategyColumns {
  Rect name, memory, sent;
};

StrategyColumns columns_in(const Look& look, const Rect& row) {
  Rect rest = row;
  StrategyColumns out;
  rest.take_left(look.px(8));
  out.name = rest.take_left(text_width(look, Face::kMonoSmall, "hybrid_shard_zero2"), look.px(8));
  out.sent = rest.take_right((rest.w - look.px(10)) * 0.46f, look.px(10));
  out.memory = rest;
  return out;
}

void draw_bars_head(const Look& look, const Rect& rect) {
  const Palette& p = look.colors();
  const StrategyColumns columns = columns_in(look, rect);
  text_in(look, columns.name, Face::kSmall, p.text_muted, "Before the run");
  text_in(look, columns.memory, Face::kSmall, p.text_muted, "Memory");
  text_in(look, columns.sent, Face::kSmall, p.text_muted, "Sent");
  explain(look, columns.memory, "Peak of tensors",
          "Estimated for a rank, from the settings and the model's shape alone; without what lies "
          "outside PyTorch");
  explain(look, columns.sent, "Bytes sent",
          "By a rank in one step, as the backend runs the collectives");
}

// A figure with a bar under it.
Rect draw_figure(const Look& look, Rect cell, Rgb ink, const std::string& figure) {
  const Rect text_row = cell.take_top(look.px(15));
  text_in(look, text_row, Face::kMonoSmall, ink, figure);
  return {cell.x, cell.y + look.px(1), cell.w, look.px(5)};
}

void draw_memory(const Look& look, Rect cell, const trace::StrategyPlan& plan, bool chosen,
                 const StrategyEstimates& estimates, double axis) {
  const Palette& p = look.colors();
  const std::string shortage = shortage_text(plan, estimates.usable_bytes);
  const Rect area = cell;
  if (!shortage.empty()) {
    Rect mark = cell;
    mark = mark.take_top(look.px(15)).take_right(look.px(11));
    shape(Shape::kWarning, mark.center_x(), mark.center_y(), look.px(10), color(p.danger));
  }
  const Rgb ink = !shortage.empty() ? p.danger : chosen ? p.text : p.text_secondary;
  const Rect bar = draw_figure(look, cell, ink, bytes_or_zero(plan.memory.total()));
  draw_estimate_bar(look, bar, memory_parts(plan.memory), axis);
  if (!hovers(area)) return;
  std::string note = shortage.empty() ? "" : shortage + " (" + estimates.device + "). ";
  note += "At the peak, in " + plan.memory.peak_place;
  formula_tooltip(look, std::string(plan.name()) + ": memory of a rank", memory_lines(plan.memory),
                  note);
}

void draw_sent(const Look& look, const Rect& cell, const trace::StrategyPlan& plan, bool chosen,
               double axis) {
  const Palette& p = look.colors();
  const std::int64_t sent = sent_bytes(plan);
  const Rect bar = draw_figure(look, cell, chosen ? p.text : p.text_secondary, bytes_or_zero(sent));
  fill(bar, color(p.field), look.px(2));
  const auto share = static_cast<float>(static_cast<double>(sent) / axis);
  if (sent > 0) {
    fill({bar.x, bar.y, std::max(2.0f, std::round(bar.w * share)), bar.h}, color(p.text_muted),
         look.px(2));
  }
  if (hovers(cell)) {
    formula_tooltip(look, std::string(plan.name()) + ": sent by a rank in a step",
                    traffic_lines(plan.traffic));
  }
}

void draw_strategy(const Look& look, const Rect& rect, const trace::StrategyPlan& plan,
                   const KnobDraft& draft, const StrategyScales& scales, Commands& commands) {
  const Palette& p = look.colors();
  const bool chosen = plan.strategy == draft.next.sharding_strategy;
  const Hit hit = hit_area(look, "strategy/" + std::string(plan.name()), rect);
  if (chosen || hit.hovered) fill(rect, color(chosen ? p.row_selected : p.hover), look.px(4));
  if (chosen) {
    const bool changed = draft.baseline.sharding_strategy != draft.next.sharding_strategy;
    fill({rect.x, rect.y + look.px(3), look.px(3), rect.h - look.px(6)},
         color(changed ? p.changed : p.accent), look.px(1));
  }
  if (hit.clicked && !chosen) {
    commands.push_back(SetKnob{"sharding_strategy", std::string(plan.name())});
  }
  const StrategyColumns columns = columns_in(look, rect);
  const bool refused = !plan.refused.empty();
  text_in(look, columns.name, Face::kMonoSmall,
          refused  ? p.text_muted
          : chosen ? p.text
                   : p.text_secondary,
          plan.name());
  if (refused) {
    text_in(look, columns.memory, Face::kSmall, p.text_muted, "refused");
    explain(look, rect, std::string(plan.name()) + " is refused", plan.refused);
    return;
  }
  const Rect low{0, rect.y + look.px(2), 0, rect.h - look.px(2)};
  draw_memory(look, {columns.memory.x, low.y, columns.memory.w, low.h}, plan, chosen,
              *draft.estimates, scales.memory);
  draw_sent(look, {columns.sent.x, low.y, columns.sent.w, low.h}, plan, chosen, scales.sent);
  explain(look, columns.name, plan.name(), trace::strategy_traits(plan.strategy).explanation,
          "Click chooses it");
}

}  // namespace

float strategy_bars_height(const Look& look, const KnobDraft& draft) {
  if (!draft.estimates) return 0;
  return look.px(kBarsHead) + look.px(kBarsFoot) +
         look.px(kBarsRow) * static_cast<float>(draft.estimates->strategies.size());
}

void draw_strategy_bars(const Look& look, const Rect& rect, const KnobDraft& draft,
                        Commands& commands) {
  if (!draft.estimates) return;
  const StrategyScales scales = scales_of(*draft.estimates);
  Rect rest = rect;
  draw_bars_head(look, rest.take_top(look.px(kBarsHead)));
  for (const trace::StrategyPlan& plan : draft.estimates->strategies) {
    draw_strategy(look, rest.take_top(look.px(kBarsRow)), plan, draft, scales, commands);
  }
  const float width = button_width(look, "Plan…");
  Rect foot = rest.take_top(look.px(kBarsFoot)).inset(0, look.px(5));
  const Rect plan = foot.take_right(width, look.px(8));
  if (button(look, "knobs/plan", plan, ButtonKind::kQuiet, "Plan…")) {
    commands.push_back(OpenPlan{});
  }
  explain(look, plan, "Plan", "What every strategy would need on other GPUs and more machines",
          "P");
  foot.take_left(look.px(8));
  const trace::TrainedShare& parameters = draft.estimates->parameters;
  text_in(look, foot, Face::kSmall, look.colors().text_secondary, parameters_text(parameters));
  explain(look, foot, "Parameters",
          format_integer(parameters.all) +
              " values, shared ones counted once, adapters included; " +
              format_integer(parameters.trained) + " of them are trained",
          "From the model's shape, before it is loaded");
}

}  // namespace shardlens::ui
