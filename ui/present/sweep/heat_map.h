// A sweep of two knobs as a map of cells. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

struct HeatMap {
  struct Cell {
    std::optional<std::size_t> point;  // of the sweep; none: the combination is not swept
    std::string text;                  // "251.0 ms", "failed", "240 ms"
    std::string interval;              // "± 3.2 ms", "± 4 %": half of its 95 % one; "": not known
    std::optional<float> shade;        // 0 the best of the map, 1 the worst; none: no result
    std::string mark;                  // of the best; else ""
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

}  // namespace shardlens::ui::present
