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

StrategyColumns columns_in(const Theme& theme, const Rect& row) {
  Rect rest = row;
  StrategyColumns out;
  rest.take_left(theme.px(8));
  out.name = rest.take_left(text_width(theme, Face::kMonoSmall, "hybrid_shard_zero2"), theme.px(8));
  out.sent = rest.take_right((rest.w - theme.px(10)) * 0.46f, theme.px(10));
  out.memory = rest;
  return out;
}

void draw_bars_head(const Theme& theme, const Rect& rect) {
  const Palette& p = theme.colors();
  const StrategyColumns columns = columns_in(theme, rect);
  text_in(theme, columns.name, Face::kSmall, p.text_muted, "Before the run");
  text_in(theme, columns.memory, Face::kSmall, p.text_muted, "Memory");
  text_in(theme, columns.sent, Face::kSmall, p.text_muted, "Sent");
  explain(theme, columns.memory, "Peak of tensors",
          "Estimated for a rank, from the settings and the model's shape alone; without what lies "
          "outside PyTorch");
  explain(theme, columns.sent, "Bytes sent",
          "By a rank in one step, as the backend runs the collectives");
}

// A figure with a bar under it.
Rect draw_figure(const Theme& theme, Rect cell, Rgb ink, const std::string& figure) {
  const Rect text_row = cell.take_top(theme.px(15));
  text_in(theme, text_row, Face::kMonoSmall, ink, figure);
  return {cell.x, cell.y + theme.px(1), cell.w, theme.px(5)};
}

void draw_memory(const Theme& theme, Rect cell, const trace::StrategyPlan& plan, bool chosen,
                 const StrategyEstimates& estimates, double axis) {
  const Palette& p = theme.colors();
  const std::string shortage = shortage_text(plan, estimates.usable_bytes);
  const Rect area = cell;
  if (!shortage.empty()) {
    Rect mark = cell;
    mark = mark.take_top(theme.px(15)).take_right(theme.px(11));
    shape(Shape::kWarning, mark.center_x(), mark.center_y(), theme.px(10), color(p.danger));
  }
  const Rgb ink = !shortage.empty() ? p.danger : chosen ? p.text : p.text_secondary;
  const Rect bar = draw_figure(theme, cell, ink, bytes_or_zero(plan.memory.total()));
  draw_estimate_bar(theme, bar, memory_parts(plan.memory), axis);
  if (!hovers(area)) return;
  std::string note = shortage.empty() ? "" : shortage + " (" + estimates.device + "). ";
  note += "At the peak, in " + plan.memory.peak_place;
  formula_tooltip(theme, std::string(plan.name()) + ": memory of a rank", memory_lines(plan.memory),
                  note);
}

void draw_sent(const Theme& theme, const Rect& cell, const trace::StrategyPlan& plan, bool chosen,
               double axis) {
  const Palette& p = theme.colors();
  const std::int64_t sent = sent_bytes(plan);
  const Rect bar =
      draw_figure(theme, cell, chosen ? p.text : p.text_secondary, bytes_or_zero(sent));
  fill(bar, color(p.field), theme.px(2));
  const auto share = static_cast<float>(static_cast<double>(sent) / axis);
  if (sent > 0) {
    fill({bar.x, bar.y, std::max(2.0f, std::round(bar.w * share)), bar.h}, color(p.text_muted),
         theme.px(2));
  }
  if (hovers(cell)) {
    formula_tooltip(theme, std::string(plan.name()) + ": sent by a rank in a step",
                    traffic_lines(plan.traffic));
  }
}

void draw_strategy(const Theme& theme, const Rect& rect, const trace::StrategyPlan& plan,
                   const KnobDraft& draft, const StrategyScales& scales, Commands& commands) {
  const Palette& p = theme.colors();
  const bool chosen = plan.strategy == draft.next.sharding_strategy;
  const Hit hit = hit_area(theme, "strategy/" + std::string(plan.name()), rect);
  if (chosen || hit.hovered) fill(rect, color(chosen ? p.row_selected : p.hover), theme.px(4));
  if (chosen) {
    const bool changed = draft.baseline.sharding_strategy != draft.next.sharding_strategy;
    fill({rect.x, rect.y + theme.px(3), theme.px(3), rect.h - theme.px(6)},
         color(changed ? p.changed : p.accent), theme.px(1));
  }
  if (hit.clicked && !chosen) {
    commands.push_back(SetKnob{"sharding_strategy", std::string(plan.name())});
  }
  const StrategyColumns columns = columns_in(theme, rect);
  const bool refused = !plan.refused.empty();
  text_in(theme, columns.name, Face::kMonoSmall,
          refused  ? p.text_muted
          : chosen ? p.text
                   : p.text_secondary,
          plan.name());
  if (refused) {
    text_in(theme, columns.memory, Face::kSmall, p.text_muted, "refused");
    explain(theme, rect, std::string(plan.name()) + " is refused", plan.refused);
    return;
  }
  const Rect low{0, rect.y + theme.px(2), 0, rect.h - theme.px(2)};
  draw_memory(theme, {columns.memory.x, low.y, columns.memory.w, low.h}, plan, chosen,
              *draft.estimates, scales.memory);
  draw_sent(theme, {columns.sent.x, low.y, columns.sent.w, low.h}, plan, chosen, scales.sent);
  explain(theme, columns.name, plan.name(), trace::strategy_traits(plan.strategy).explanation,
          "Click chooses it");
}

}  // namespace

float strategy_bars_height(const Theme& theme, const KnobDraft& draft) {
  if (!draft.estimates) return 0;
  return theme.px(kBarsHead) + theme.px(kBarsFoot) +
         theme.px(kBarsRow) * static_cast<float>(draft.estimates->strategies.size());
}

void draw_strategy_bars(const Theme& theme, const Rect& rect, const KnobDraft& draft,
                        Commands& commands) {
  if (!draft.estimates) return;
  const StrategyScales scales = scales_of(*draft.estimates);
  Rect rest = rect;
  draw_bars_head(theme, rest.take_top(theme.px(kBarsHead)));
  for (const trace::StrategyPlan& plan : draft.estimates->strategies) {
    draw_strategy(theme, rest.take_top(theme.px(kBarsRow)), plan, draft, scales, commands);
  }
  const float width = button_width(theme, "Plan…");
  Rect foot = rest.take_top(theme.px(kBarsFoot)).inset(0, theme.px(5));
  const Rect plan = foot.take_right(width, theme.px(8));
  if (button(theme, "knobs/plan", plan, ButtonKind::kQuiet, "Plan…")) {
    commands.push_back(OpenPlan{});
  }
  explain(theme, plan, "Plan", "What every strategy would need on other GPUs and more machines",
          "P");
  foot.take_left(theme.px(8));
  const trace::TrainedShare& parameters = draft.estimates->parameters;
  text_in(theme, foot, Face::kSmall, theme.colors().text_secondary, parameters_text(parameters));
  explain(theme, foot, "Parameters",
          format_integer(parameters.all) +
              " values, shared ones counted once, adapters included; " +
              format_integer(parameters.trained) + " of them are trained",
          "From the model's shape, before it is loaded");
}

}  // namespace shardlens::ui
