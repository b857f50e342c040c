// Histograms of durations: a small one for a table's cell, a large one with axis, figures and what
// is under the mouse. Interface thread, inside a frame; the arithmetic any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/timeline/values/range_figures.h"
#include "ui/kit/theme.h"

namespace shardlens::ui::table {

// Bin i holds durations in [first, second) nanoseconds; the last one its upper end, too.
std::pair<double, double> histogram_bin(const trace::timeline::DurationHistogram& histogram,
                                        int bin);
// Where a duration lies, 0..1 from the lowest to the highest on the logarithmic axis.
double histogram_position(const trace::timeline::DurationHistogram& histogram, double ns);

struct HistogramTick {
  double position = 0;  // 0..1
  std::string label;    // "500 µs"; "" for a tick without one
};
// 1, 2 and 5 times powers of ten where there is room for them, else both ends.
std::vector<HistogramTick> histogram_ticks(const trace::timeline::DurationHistogram& histogram,
                                           int most);

// No text, no reaction to the mouse.
void draw_small_histogram(const kit::Theme& theme, const state::Rect& rect,
                          const trace::timeline::DurationHistogram& histogram, state::Rgb ink);

// Bars with axis, mean, median and p99; tells the bin under the mouse.
void draw_large_histogram(const kit::Theme& theme, const state::Rect& rect,
                          const trace::timeline::NameFigures& figures, state::Rgb ink);

}  // namespace shardlens::ui::table
