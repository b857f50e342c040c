// Step time against peak memory: which points no other beats in both. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// Which of these (memory, time) no other is at most equal to in both and less in one; from the
// least memory to the most. Equal ones all belong to it.
std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points);

struct ParetoChart {  // positions 0..1, y upwards
  struct Point {
    std::size_t point = 0;  // of the sweep
    std::string label;      // its values
    float x = 0, y = 0;     // peak memory, step time
    bool is_on_front = false;
  };
  struct Tick {
    float at = 0;
    std::string label;
  };
  std::vector<Point> points;
  std::vector<std::size_t> front;  // of `points`, from left to right
  std::vector<Tick> memory_ticks, time_ticks;
  bool by_tokens = false;  // y is time per token, as points do different work
};

// None: of fewer than two points both are known.
std::optional<ParetoChart> pareto_chart(const state::ShownSweep& sweep);

}  // namespace shardlens::ui::present
