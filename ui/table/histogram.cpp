#include "ui/table/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"

namespace shardlens::ui::table {

namespace {

constexpr int kBins = trace::timeline::kHistogramBins;

// Few events in many bins look like a comb: the fewer there are, the more bins make a bar.
int bins_per_bar(const trace::timeline::DurationHistogram& histogram) {
  const auto count =
      std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
  return count >= 400 ? 1 : count >= 80 ? 2 : 4;
}

std::uint32_t count_of_bar(const trace::timeline::DurationHistogram& histogram, int first,
                           int bins) {
  std::uint32_t sum = 0;
  for (int i = first; i < std::min(first + bins, kBins); ++i) {
    sum += histogram.counts[static_cast<std::size_t>(i)];
  }
  return sum;
}

bool has_one_value(const trace::timeline::DurationHistogram& histogram) {
  return !(histogram.last_ns > histogram.first_ns);
}

// A logarithmic axis has no zero: what took no time at all counts as one nanosecond.
double log_of(double ns) { return std::log(std::max(1.0, ns)); }

// Where a bar stands; one value alone stands in the middle.
state::Rect histogram_bar_rect(const state::Rect& area,
                               const trace::timeline::DurationHistogram& histogram, int first,
                               int bins, double share) {
  const float height = std::max(2.0f, area.h * static_cast<float>(share));
  const float step = area.w / kBins;
  if (has_one_value(histogram)) {
    return {area.center_x() - step, area.bottom() - height, 2 * step, height};
  }
  const float x = std::round(area.x + step * static_cast<float>(first));
  const float next = std::round(area.x + step * static_cast<float>(first + bins));
  const float gap = next - x >= 4 ? 1.0f : 0.0f;
  return {x, area.bottom() - height, std::max(1.0f, next - x - gap), height};
}

void draw_histogram_bars(const state::Rect& area,
                         const trace::timeline::DurationHistogram& histogram, state::Rgb ink) {
  const int bins = bins_per_bar(histogram);
  std::uint32_t highest = 1;
  for (int first = 0; first < kBins; first += bins) {
    highest = std::max(highest, count_of_bar(histogram, first, bins));
  }
  for (int first = 0; first < kBins; first += bins) {
    const std::uint32_t count = count_of_bar(histogram, first, bins);
    if (count == 0) continue;
    kit::fill(
        histogram_bar_rect(area, histogram, first, bins, static_cast<double>(count) / highest),
        kit::color(ink));
  }
}

void draw_duration_axis(const kit::Theme& theme, const state::Rect& plot, const state::Rect& axis,
                        const trace::timeline::DurationHistogram& histogram) {
  const state::Palette& p = theme.colors();
  kit::line(plot.x, plot.bottom(), plot.right(), plot.bottom(), kit::color(p.idle_edge));
  const int most = std::max(2, static_cast<int>(plot.w / theme.px(72)));
  float free_from = axis.x;
  for (const HistogramTick& tick : histogram_ticks(histogram, most)) {
    const float x = std::round(plot.x + plot.w * static_cast<float>(tick.position));
    kit::line(x, plot.bottom(), x, plot.bottom() + theme.px(4), kit::color(p.idle_edge));
    kit::axis_label(theme, axis, x, tick.label, free_from);
  }
}

// A vertical mark with its name above the bars, where no other name stands.
void draw_mark_line(const kit::Theme& theme, const state::Rect& plot, const state::Rect& names,
                    const trace::timeline::DurationHistogram& histogram, double ns,
                    std::string_view name, float& free_from) {
  const state::Palette& p = theme.colors();
  const float at = static_cast<float>(histogram_position(histogram, ns));
  const float x = std::round(plot.x + plot.w * at);
  kit::line(x, plot.y, x, plot.bottom(), kit::color(p.text_secondary, 0.8f));
  const float width = kit::text_width(theme, kit::Face::kSmall, name);
  const float left =
      std::max(free_from, std::min(x - width / 2, std::max(names.x, names.right() - width)));
  if (left + width > names.right() + 0.5f) return;
  free_from = left + width + theme.px(10);
  kit::label_in(theme, {left, names.y, width + 1, names.h}, kit::Face::kSmall, p.text_secondary,
                name);
}

void explain_bin(const kit::Theme& theme, const state::Rect& plot,
                 const trace::timeline::NameFigures& figures, state::Rgb ink) {
  if (!kit::hovers(plot) || has_one_value(figures.histogram)) return;
  const float x = ImGui::GetIO().MousePos.x;
  const int bins = bins_per_bar(figures.histogram);
  const int bin =
      std::clamp(static_cast<int>((x - plot.x) / plot.w * kBins), 0, kBins - 1) / bins * bins;
  const double low = histogram_bin(figures.histogram, bin).first;
  const double high = histogram_bin(figures.histogram, bin + bins - 1).second;
  const double count = count_of_bar(figures.histogram, bin, bins);
  const float step = plot.w / kBins;
  kit::fill(
      {plot.x + step * static_cast<float>(bin), plot.y, step * static_cast<float>(bins), plot.h},
      kit::color(theme.colors().text, 0.08f));
  const kit::TooltipScope scope(theme);
  const auto unit = present::duration_unit(high);
  scope.title(present::format_duration_in(low, unit).value + " to " +
              present::format_duration_in(high, unit).text());
  scope.row(&ink, "Events", present::format_integer(static_cast<std::int64_t>(count)));
  scope.row(
      nullptr, "Share of all",
      present::format_percent(count / static_cast<double>(std::max<std::int64_t>(1, figures.count)))
          .text());
}

}  // namespace

std::pair<double, double> histogram_bin(const trace::timeline::DurationHistogram& histogram,
                                        int bin) {
  const double low = log_of(histogram.first_ns);
  const double step = (log_of(histogram.last_ns) - low) / kBins;
  return {std::exp(low + step * bin), std::exp(low + step * (bin + 1))};
}

double histogram_position(const trace::timeline::DurationHistogram& histogram, double ns) {
  if (has_one_value(histogram)) return 0.5;
  const double low = log_of(histogram.first_ns), high = log_of(histogram.last_ns);
  return high > low ? std::clamp((log_of(ns) - low) / (high - low), 0.0, 1.0) : 0.5;
}

std::vector<HistogramTick> histogram_ticks(const trace::timeline::DurationHistogram& histogram,
                                           int most) {
  if (has_one_value(histogram)) return {{0.5, present::format_duration(histogram.first_ns).text()}};
  std::vector<HistogramTick> ticks;
  const double low = std::max(1.0, histogram.first_ns), high = histogram.last_ns;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double ns = power * factor;
      if (ns < low || ns > high) continue;
      ticks.push_back({histogram_position(histogram, ns), present::round_time_text(ns)});
    }
  }
  if (ticks.size() < 2) {
    ticks = {{0, present::format_duration(low).text()}, {1, present::format_duration(high).text()}};
  }
  while (static_cast<int>(ticks.size()) > std::max(2, most)) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ticks.size(); i += 2) ticks[kept++] = ticks[i];
    ticks.resize(kept);
  }
  return ticks;
}

void draw_small_histogram(const kit::Theme& theme, const state::Rect& rect,
                          const trace::timeline::DurationHistogram& histogram, state::Rgb ink) {
  kit::line(rect.x, rect.bottom(), rect.right(), rect.bottom(),
            kit::color(theme.colors().panel_edge));
  draw_histogram_bars(rect, histogram, ink);
}

void draw_large_histogram(const kit::Theme& theme, const state::Rect& rect,
                          const trace::timeline::NameFigures& figures, state::Rgb ink) {
  state::Rect plot = rect;
  const state::Rect names = plot.take_top(theme.px(18));
  const state::Rect axis = plot.take_bottom(theme.px(22));
  if (plot.h < theme.px(12) || figures.count == 0 || figures.median_ns < 0) return;
  draw_histogram_bars(plot, figures.histogram, ink);
  draw_duration_axis(theme, plot, {axis.x, axis.y + theme.px(4), axis.w, axis.h - theme.px(4)},
                     figures.histogram);
  if (!has_one_value(figures.histogram)) {
    float free_from = names.x;
    draw_mark_line(theme, plot, names, figures.histogram, static_cast<double>(figures.median_ns),
                   "median", free_from);
    draw_mark_line(theme, plot, names, figures.histogram, static_cast<double>(figures.p99_ns),
                   "p99", free_from);
  }
  explain_bin(theme, plot, figures, ink);
}

}  // namespace shardlens::ui::table
