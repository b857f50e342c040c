// Step time against the peak of tensors: which points no other beats in both. Free of ImGui; any
// thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/present/axis.h"
#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// Of these (memory, time) the ones that a line from the least memory to the least time goes
// through: each takes less time than all that need less memory. Of those that need as much
// (trace::analysis::is_same_memory) it is the fastest.
std::vector<std::size_t> pareto_line(const std::vector<std::pair<double, double>>& points);

struct ParetoChart {  // positions 0..1, y upwards
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
