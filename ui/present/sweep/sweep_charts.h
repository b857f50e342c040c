// What a sweep's pictures show: curve, ranking, map of cells, step time against memory. Positions
// 0..1, y upwards. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/present/axis.h"
#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// What was measured with its interval, each run, and what was predicted, in time per step, or per
// token where points do different work; of a search as its goal counts.
struct SweepCurve {
  struct Estimate {
    float y = 0;
    std::optional<float> low{}, high{};  // of its interval, where that is known
  };
  struct Point {            // from left to right
    std::size_t point = 0;  // of the sweep
    std::string label;      // the value
    float x = 0;
    std::optional<Estimate> measured{}, predicted{};
    std::vector<float> runs{};  // y of each
  };
  std::vector<Point> points;
  std::vector<Tick> ticks;
  bool by_tokens = false;  // y is time per token
  bool of_memory = false;  // y is bytes
  bool of_search = false;  // which predicts from more than one run
};

// None: not exactly one knob varies, or nothing was measured or predicted yet. Numbers stand where
// they belong (by their logarithm, if they span more than a decade), other values side by side.
std::optional<SweepCurve> sweep_curve(const state::ShownSweep& sweep);

// Any points in the order of what they cost, behind them those that were only predicted, and last
// what failed; those of a search as it lists them; without x. None: nothing was measured or
// predicted yet.
std::optional<SweepCurve> sweep_ranking(const state::ShownSweep& sweep);

// A sweep of two knobs.
struct HeatMap {
  struct Cell {
    std::optional<std::size_t> point;  // of the sweep; none: the combination is not swept
    std::string text;                  // "251.0 ms", "failed", "240 ms"
    std::string interval{};            // "± 3.2 ms", "± 4 %": half of its 95 % one; "": not known
    std::optional<float> shade{};      // 0 the best of the map, 1 the worst; none: no result
    std::string mark{};                // of the best; else ""
    bool is_prediction = false;        // the text is
  };
  std::vector<std::string> columns, rows;  // values of the first and of the second knob
  std::vector<Cell> cells;                 // row by row
  const Cell& at(std::size_t row, std::size_t column) const {
    return cells[row * columns.size() + column];
  }
};

// None: not exactly two knobs vary, or fewer than half of their combinations are swept.
std::optional<HeatMap> heat_map(const state::ShownSweep& sweep);

// Of these (memory, time) the ones that a line from the least memory to the least time goes
// through: each takes less time than all that need less memory. Of those that need as much
// (trace::analysis::is_same_memory) it is the fastest.
std::vector<std::size_t> pareto_line(const std::vector<std::pair<double, double>>& points);

// Step time against the peak of tensors: which points no other beats in both.
struct ParetoChart {
  struct Point {
    std::size_t point = 0;     // of the sweep
    std::string label;         // its values
    float x = 0, y = 0;        // peak of tensors, step time
    bool is_on_front = false;  // none beats it in both, beyond noise
  };
  std::vector<Point> points;
  std::vector<std::size_t> line;  // through those on the front, from left to right
  std::vector<Tick> memory_ticks, time_ticks;
  bool by_tokens = false;  // y is time per token, as points do different work
};

// None: of fewer than two points both are known.
std::optional<ParetoChart> pareto_chart(const state::ShownSweep& sweep);

}  // namespace shardlens::ui::present
