#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "trace/analysis/figures/throttling.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"
#include "ui/present/step_chart.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

constexpr float kThrottleMark = 2.5f;  // high, under the bars
constexpr float kWidthForNote = 800;   // beside the legend and the baseline's name

struct StepPartLook {
  std::string_view name;
  state::Rgb state::Palette::*color;
};
// By StepPart.
constexpr std::array<StepPartLook, present::kStepPartCount> kStepPartLooks{
    {{"Compute", &state::Palette::compute},
     {"Exposed communication", &state::Palette::exposed},
     {"Exposed copy", &state::Palette::copy},
     {"Optimizer", &state::Palette::optimizer},
     {"Idle", &state::Palette::idle}}};

struct ChartArea {
  state::Rect plot;
  double top_ns = 1;
  float y(double ns) const { return plot.bottom() - static_cast<float>(ns / top_ns) * plot.h; }
};

// "run 3: 236.9 ms" behind a dashed line, or behind ▲ where that lies above the axis. Takes its
// room from the header's right end.
void draw_baseline_legend(const kit::Theme& theme, state::Rect& header, double top_ns,
                          const state::LedgerRow& row) {
  const state::Palette& p = theme.colors();
  const double ns = row.summary.step_ns.mean;
  const std::string label =
      (row.ordinal.empty() ? row.name : row.ordinal) + ": " + present::format_duration(ns).text();
  const float width = theme.px(22) + kit::text_width(theme, kit::Face::kSmall, label);
  if (width > header.w) return;
  const state::Rect all = header.take_right(width, theme.px(14));
  state::Rect box = all;
  const state::Rect mark = box.take_left(theme.px(16), theme.px(6));
  const float y = std::round(mark.center_y());
  if (ns > top_ns) {
    kit::shape(kit::Shape::kUp, mark.center_x(), y, theme.px(8), kit::color(p.text_secondary));
  } else {
    kit::dashed_line(theme, mark.x, y, mark.right(), y, kit::color(p.text_secondary));
  }
  kit::text_in(theme, box, kit::Face::kSmall, p.text_secondary, label);
  kit::explain(theme, all, "Baseline",
               ns > top_ns ? "Its mean step time, beyond the chart" : "Its mean step time");
}

// A swatch, filled or outlined or both, and a name, where there is room, which it takes.
bool draw_legend_entry(const kit::Theme& theme, state::Rect& header, std::string_view name,
                       std::optional<state::Rgb> fill, std::optional<state::Rgb> edge) {
  const state::Rect mark = kit::legend_entry(theme, header, 9, name, theme.colors().text_secondary);
  if (mark.empty()) return false;
  if (fill) kit::fill(kit::swatch_in(mark), kit::color(*fill), theme.px(2));
  if (edge) kit::outline(kit::swatch_in(mark), kit::color(*edge), theme.px(2));
  return true;
}

// Of a step of which nothing but its length was recorded.
state::Rgb plain_color(const state::Palette& p) { return state::mix(p.panel, p.copy, 0.7); }

void draw_legend(const kit::Theme& theme, state::Rect header, const present::StepChart& chart,
                 const trace::model::RunInfo& info) {
  const state::Palette& p = theme.colors();
  // First, as it is what is asked about, and there may be no room for all.
  const std::string_view missing = present::missing_records(info).name;
  if (chart.has_unread && !draw_legend_entry(theme, header, missing, {}, p.copy)) return;
  for (std::size_t i = 0; chart.has_detail && i < kStepPartLooks.size(); ++i) {
    const auto part = static_cast<present::StepPart>(i);
    if (part == present::StepPart::kExposedCopy && !chart.has_copies) continue;
    const bool has_edge = part == present::StepPart::kIdle;
    const auto& [name, color] = kStepPartLooks[i];
    if (!draw_legend_entry(theme, header, name, p.*color,
                           has_edge ? std::optional(p.idle_edge) : std::nullopt)) {
      return;
    }
  }
  if (chart.has_plain && !draw_legend_entry(theme, header, "Without detail", plain_color(p), {}))
    return;
  if (!chart.has_throttled) return;
  const state::Rect mark = kit::legend_entry(theme, header, 12, "Throttled", p.text_secondary);
  kit::fill({mark.x, std::round(mark.center_y() + theme.px(1)), mark.w, theme.px(kThrottleMark)},
            kit::color(p.text_secondary), 1);
}

void draw_axis(const kit::Theme& theme, const ChartArea& area) {
  const auto unit = present::duration_unit(area.top_ns);
  const int count = std::max(2, static_cast<int>(area.plot.h / theme.px(34)));
  const auto is_cut = [&](double tick) { return area.y(tick) < area.plot.y + theme.px(6); };
  auto ticks = present::nice_ticks(0, area.top_ns, count);
  const auto is_labelled = [&](double tick) { return tick > 0 && !is_cut(tick); };
  // 0 alone is no scale.
  if (std::ranges::none_of(ticks, is_labelled)) {
    ticks = present::nice_ticks(0, area.top_ns, 2 * count);
  }
  for (const double tick : ticks) {
    std::string label = present::format_plain(tick / (unit == "s"    ? 1e9
                                                      : unit == "ms" ? 1e6
                                                                     : 1e3));
    if (tick == 0) label = "0 " + std::string(unit);
    kit::tick_left(theme, area.plot, area.y(tick), is_cut(tick) ? "" : label);
  }
}

void draw_step_labels(const kit::Theme& theme, const ChartArea& area,
                      const present::StepChart& chart) {
  const state::Palette& p = theme.colors();
  if (chart.bars.empty()) return;
  const float y = area.plot.bottom() + theme.px(3);
  const double per_label = std::max(1.0, theme.px(64) / chart.bar_width);
  const double step = std::max(
      1.0,
      present::nice_step(static_cast<double>(chart.bars.size()) * static_cast<double>(chart.bin),
                         static_cast<int>(static_cast<double>(chart.bars.size()) / per_label)));
  float free_from = area.plot.x - theme.px(20);
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const std::int64_t first = i == 0 ? chart.bars[0].step : chart.bars[i - 1].last + 1;
    const std::int64_t wanted =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(first) / step) * step);
    if (wanted > chart.bars[i].last) continue;
    const std::string label = present::format_integer(wanted);
    const float width = kit::text_width(theme, kit::Face::kMonoSmall, label);
    const float center =
        area.plot.x + static_cast<float>((static_cast<double>(i) + 0.5) * chart.bar_width);
    const float x = std::round(center - width / 2);
    if (x < free_from || x + width > area.plot.right() + theme.px(8)) continue;
    kit::text(theme, x, y + theme.px(11), kit::Face::kMonoSmall, p.text_muted, label);
    free_from = x + width + theme.px(12);
  }
}

void draw_bar(const kit::Theme& theme, const ChartArea& area, const present::StepBar& bar, float x,
              float width) {
  const state::Palette& p = theme.colors();
  const kit::Clip clip({area.plot.x, area.plot.y, area.plot.w + 1, area.plot.h});
  const float strength = bar.warmup ? 0.4f : 1;
  if (bar.awaits_detail) {  // hollow: nothing is known of what fills it
    const float top = std::round(area.y(bar.total_ns));
    kit::outline({x, top, width, area.plot.bottom() - top}, kit::color(p.copy, strength));
  } else if (!bar.has_detail) {
    const float top = area.y(bar.total_ns);
    kit::fill({x, top, width, area.plot.bottom() - top}, kit::color(plain_color(p), strength));
  } else {
    double sum = 0;
    for (std::size_t i = 0; i < kStepPartLooks.size(); ++i) {
      const double part = bar.parts_ns[i];
      if (part <= 0) continue;
      const float bottom = std::round(area.y(sum)), top = std::round(area.y(sum + part));
      sum += part;
      kit::fill({x, top, width, bottom - top}, kit::color(p.*kStepPartLooks[i].color, strength));
    }
  }
  if (bar.total_ns > area.top_ns) {  // higher than the axis: cut, with a mark
    kit::fill({x, area.plot.y, width, theme.px(8)}, kit::color(p.panel));
    kit::shape(kit::Shape::kUp, x + width / 2, area.plot.y + theme.px(4),
               std::min(width + 2, theme.px(8)), kit::color(p.text_secondary));
  }
  if (bar.nonfinite) {
    kit::fill({x, area.plot.bottom() - theme.px(3), width, theme.px(3)}, kit::color(p.danger));
    kit::shape(kit::Shape::kCross, x + width / 2, area.plot.y + theme.px(7), theme.px(9),
               kit::color(p.danger));
  }
}

void draw_baseline(const kit::Theme& theme, const ChartArea& area, const state::LedgerRow& row) {
  const double ns = row.summary.step_ns.mean;
  if (ns > area.top_ns) return;
  const float y = std::round(area.y(ns));
  kit::dashed_line(theme, area.plot.x, y, area.plot.right(), y,
                   kit::color(theme.colors().text_secondary));
}

// What a bar is marked for, which may be another step of its bin than the slowest.
void note_marks(const kit::TooltipScope& scope,
                const std::vector<trace::analysis::StepFigures>& steps,
                const present::StepBar& bar) {
  const auto of_step = [&](std::size_t index) {
    return index == bar.figure ? "" : "Step " + present::format_integer(steps[index].index) + ": ";
  };
  if (bar.throttled) {
    scope.note(of_step(*bar.throttled) +
               "Throttled: " + trace::analysis::throttling_note(steps[*bar.throttled]));
  }
  if (bar.nonfinite) {
    scope.note(of_step(*bar.nonfinite) + "Loss or gradient norm is not finite, first on rank " +
               std::to_string(steps[*bar.nonfinite].nonfinite_rank));
  }
}

void draw_step_tooltip(const kit::Theme& theme, const trace::analysis::RunFigures& run,
                       const present::StepChart& chart, const present::StepBar& bar) {
  const state::Palette& p = theme.colors();
  const auto& steps = run.steps;
  const trace::analysis::StepFigures& step = steps[bar.figure];
  const kit::TooltipScope scope(theme);
  scope.title("Step " + present::format_integer(step.index));
  if (bar.count > 1) scope.note("the slowest of " + present::format_integer(bar.count));
  if (step.warmup) scope.note("One of the first steps, left out of the summary");
  scope.row("Step", present::format_duration(bar.total_ns).text());
  for (std::size_t i = 0; bar.has_detail && i < kStepPartLooks.size(); ++i) {
    const auto part = static_cast<present::StepPart>(i);
    if (part == present::StepPart::kExposedCopy && !chart.has_copies) continue;
    const auto& [name, color] = kStepPartLooks[i];
    const double ns = bar.parts_ns[i];
    scope.row(&(p.*color), name, present::format_duration(ns).text());
    if (part != present::StepPart::kExposed || ns <= 0) continue;
    const auto slowest = static_cast<std::size_t>(step.slowest_rank);
    const auto waiting = step.exposed_wait_of(slowest);
    if (!waiting) {
      scope.note("How much of it is waiting is not known: " +
                 std::string(trace::analysis::to_text(step.wait_doubt_of(slowest))));
      continue;
    }
    scope.row("  waiting for other ranks", present::format_duration(*waiting).text());
    scope.row("  transfer", present::format_duration(ns - *waiting).text());
  }
  if (bar.awaits_detail) {
    scope.note(present::missing_records(run.info).reason);
  } else if (!bar.has_detail) {
    scope.note("Recorded without detail");
  }
  if (std::isfinite(step.loss)) scope.row("Loss", present::format_plain(step.loss));
  note_marks(scope, steps, bar);
  scope.note("Rank " + std::to_string(step.slowest_rank) + ", the slowest, with its own breakdown");
}

// The baseline's name matters more where there is no room for both.
std::string_view note_of(const kit::Theme& theme, const state::Rect& rect,
                         const state::LedgerRow* baseline) {
  const bool has_room = baseline == nullptr || rect.w >= theme.px(kWidthForNote);
  return has_room ? "slowest rank of each step" : "";
}

void draw_empty(const kit::Theme& theme, const state::Rect& body, const state::Snapshot& snapshot) {
  kit::empty_note(theme, body,
                  present::awaits_first_step(snapshot) ? "Waiting for the first step…"
                  : snapshot.run                       ? "No step was recorded"
                                 : "Step times appear here once a run is started or replayed");
}

}  // namespace

void draw_step_chart_panel(const kit::Theme& theme, const state::Rect& rect,
                           const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::LedgerRow* baseline =
      snapshot.ledger ? present::marked_baseline(*snapshot.ledger) : nullptr;
  const kit::Panel panel(theme, "step chart", rect,
                         {.title = "Step time", .note = note_of(theme, rect, baseline)});
  if (!snapshot.run || snapshot.run->figures.steps.empty())
    return draw_empty(theme, panel.body, snapshot);
  const auto& steps = snapshot.run->figures.steps;

  state::Rect plot = panel.body;
  plot.take_left(theme.px(40));
  plot.take_bottom(theme.px(16));
  plot.take_top(theme.px(2));
  present::StepChartInput input{.width = plot.w,
                                .min_bar = theme.px(3),
                                .max_bar = theme.px(48),
                                .follow = snapshot.run->is_live,
                                .baseline_ns = {}};
  if (baseline != nullptr) input.baseline_ns = baseline->summary.step_ns.mean;
  const present::StepChart chart = present::step_chart(steps, input);
  const ChartArea area{plot, chart.top_ns};

  {
    const kit::Clip header_clip(rect, false);
    state::Rect header = panel.header;
    if (baseline != nullptr) draw_baseline_legend(theme, header, chart.top_ns, *baseline);
    draw_legend(theme, header, chart, snapshot.run->figures.info);
  }
  draw_axis(theme, area);
  draw_step_labels(theme, area, chart);
  const auto bar_width = static_cast<float>(chart.bar_width);
  const float gap = bar_width >= 4 ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const float x = std::floor(plot.x + static_cast<float>(i) * bar_width);
    const float next = std::floor(plot.x + static_cast<float>(i + 1) * bar_width);
    draw_bar(theme, area, chart.bars[i], x, next - x - gap);
    if (chart.bars[i].throttled) {
      kit::fill({x, plot.bottom() + theme.px(1), next - x - gap, theme.px(kThrottleMark)},
                kit::color(p.text_secondary));
    }
  }
  if (const auto selected = present::bar_of_step(chart, snapshot.run->selected_step)) {
    const float x = std::floor(plot.x + static_cast<float>(*selected) * bar_width) - 2;
    kit::outline({x, plot.y, bar_width + 4 - gap, plot.h + 1}, kit::color(p.text), theme.px(2),
                 std::max(1.0f, theme.px(1.4f)));
  }
  if (baseline != nullptr) draw_baseline(theme, area, *baseline);

  const kit::Hit hit = kit::mouse_area(theme, "steps/plot", plot);
  if (!hit.hovered) return;
  if (const auto hovered = present::bar_at(chart, ImGui::GetIO().MousePos.x - plot.x)) {
    const present::StepBar& bar = chart.bars[*hovered];
    kit::fill({std::floor(plot.x + static_cast<float>(*hovered) * bar_width), plot.y,
               bar_width - gap, plot.h},
              kit::color(p.text, 0.12f));
    draw_step_tooltip(theme, snapshot.run->figures, chart, bar);
    // The cross is what one clicks at.
    if (hit.clicked) {
      commands.push_back(state::SelectStep{bar.nonfinite ? steps[*bar.nonfinite].index : bar.step});
    }
  }
}

}  // namespace shardlens::ui::tune
