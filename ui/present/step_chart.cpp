#include "ui/present/step_chart.h"

#include <algorithm>
#include <cmath>

#include "trace/base/median.h"

namespace shardlens::ui::present {

namespace {

constexpr double kMostAbove = 2.2;  // medians, or highest bars: more is cut

StepBar bar_from(const trace::analysis::StepFigures& figures, std::size_t index) {
  StepBar bar;
  bar.step = bar.last = figures.index;
  bar.figure = index;
  bar.warmup = figures.warmup;
  if (figures.nonfinite) bar.nonfinite = index;
  if (!figures.throttling.empty()) bar.throttled = index;
  if (figures.ranks.empty()) return bar;
  const trace::analysis::StepBreakdown& b = figures.shown();
  bar.total_ns = static_cast<double>(b.step_ns);
  bar.awaits_detail = figures.awaits_detail();
  bar.has_detail = figures.shows_detail();
  if (!bar.has_detail) return bar;
  const auto optimizer = static_cast<double>(b.optimizer_compute_ns);
  bar.parts_ns = {static_cast<double>(b.compute_ns) - optimizer, static_cast<double>(b.exposed_ns),
                  static_cast<double>(b.exposed_copy_ns), optimizer,
                  static_cast<double>(b.idle_ns)};
  return bar;
}

// A bin shows its slowest step: an average would hide what one looks for.
void add_to_bin(StepBar& bin, const StepBar& bar) {
  const StepBar before = bin;
  if (bar.total_ns > bin.total_ns) bin = bar;
  bin.last = std::max(before.last, bar.last);
  bin.count = before.count + 1;
  bin.nonfinite = before.nonfinite ? before.nonfinite : bar.nonfinite;
  bin.throttled = before.throttled ? before.throttled : bar.throttled;
}

// Rare outliers and warm-up steps do not flatten the rest: at most 2.2 medians.
double axis_top(const std::vector<StepBar>& bars, const std::optional<double>& baseline) {
  std::vector<double> totals;
  for (const StepBar& bar : bars) {
    if (!bar.warmup && bar.total_ns > 0) totals.push_back(bar.total_ns);
  }
  if (totals.empty()) {
    for (const StepBar& bar : bars) totals.push_back(bar.total_ns);
  }
  double top = 1;
  if (!totals.empty()) {
    top = std::min(std::ranges::max(totals), kMostAbove * trace::base::upper_median(totals));
  }
  // A baseline far above does not flatten the bars either: it is named, and lies beyond the axis.
  const double line = baseline && *baseline <= kMostAbove * top ? *baseline : 0;
  return std::max({1.0, top, line}) * 1.12;
}

}  // namespace

StepChart step_chart(const std::vector<trace::analysis::StepFigures>& steps,
                     const StepChartInput& input) {
  StepChart chart;
  const auto room =
      static_cast<std::size_t>(std::max(1.0, std::floor(input.width / input.min_bar)));
  std::size_t first = 0;
  if (input.follow && steps.size() > room) first = steps.size() - room;
  const std::size_t count = steps.size() - first;
  chart.bin = static_cast<std::int64_t>((count + room - 1) / std::max<std::size_t>(room, 1));
  chart.bin = std::max<std::int64_t>(chart.bin, 1);
  if (count > 0) chart.first_step = steps[first].index;
  for (std::size_t i = first; i < steps.size(); ++i) {
    const StepBar bar = bar_from(steps[i], i);
    chart.has_copies = chart.has_copies || bar.parts_ns[2] > 0;
    chart.has_throttled = chart.has_throttled || bar.throttled;
    chart.has_unread = chart.has_unread || bar.awaits_detail;
    chart.has_detail = chart.has_detail || bar.has_detail;
    const bool is_plain = bar.total_ns > 0 && !bar.has_detail && !bar.awaits_detail;
    chart.has_plain = chart.has_plain || is_plain;
    if ((i - first) % static_cast<std::size_t>(chart.bin) == 0) {
      chart.bars.push_back(bar);
    } else {
      add_to_bin(chart.bars.back(), bar);
    }
  }
  if (!chart.bars.empty()) {
    const double width = input.width / static_cast<double>(chart.bars.size());
    chart.bar_width = std::clamp(width, input.min_bar, input.max_bar);
    if (chart.bin > 1) chart.bar_width = width;
  }
  chart.top_ns = axis_top(chart.bars, input.baseline_ns);
  return chart;
}

const state::LedgerRow* shown_of_baselines_job(const state::Ledger& ledger) {
  const auto& rows = ledger.rows;
  // Without a baseline nothing was compared.
  if (std::ranges::none_of(rows, &state::LedgerRow::is_baseline)) return nullptr;
  const auto shown = std::ranges::find_if(rows, &state::LedgerRow::is_shown);
  return shown != rows.end() && shown->not_compared.empty() ? &*shown : nullptr;
}

const state::LedgerRow* marked_baseline(const state::Ledger& ledger) {
  const state::LedgerRow* shown = shown_of_baselines_job(ledger);
  if (shown == nullptr || shown->is_baseline) return nullptr;
  const auto baseline = std::ranges::find_if(ledger.rows, &state::LedgerRow::is_baseline);
  return baseline->summary.steps_measured > 0 ? &*baseline : nullptr;
}

MissingRecords missing_records(const trace::model::RunInfo& info) {
  if (info.status == trace::model::RunStatus::kRunning) {
    return {"Not read yet", "Not read yet: the GPU's records of this step have not come"};
  }
  return {"Records lost", "The run broke off before the GPU's records of this step came"};
}

std::optional<std::size_t> bar_at(const StepChart& chart, double x) {
  if (x < 0 || chart.bar_width <= 0) return std::nullopt;
  const auto index = static_cast<std::size_t>(x / chart.bar_width);
  if (index >= chart.bars.size()) return std::nullopt;
  return index;
}

std::optional<std::size_t> bar_of_step(const StepChart& chart, std::int64_t step) {
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const std::int64_t first = i == 0 ? chart.first_step : chart.bars[i - 1].last + 1;
    if (step >= first && step <= chart.bars[i].last) return i;
  }
  return std::nullopt;
}

}  // namespace shardlens::ui::present
