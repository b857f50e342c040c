// A sweep of one knob as a curve: what was measured with its interval, each run, and what was
// predicted, in time per step, or per token where points do different work; of a search as its goal
// counts. Positions 0..1, y upwards. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/present/axis.h"
#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

struct SweepCurve {
  struct Estimate {
    float y = 0;
    std::optional<float> low, high;  // of its interval, where that is known
  };
  struct Point {            // from left to right
    std::size_t point = 0;  // of the sweep
    std::string label;      // the value
    float x = 0;
    std::optional<Estimate> measured, predicted;
    std::vector<float> runs;  // y of each
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

}  // namespace shardlens::ui::present
