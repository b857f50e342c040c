// What was predicted of runs before they ran, beside what they took: of a whole library, as a
// scatter and in words. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trace/tuning/prediction.h"
#include "ui/present/axis.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

struct TestedPrediction {
  std::string folder, run, name;             // "run 7"; its name where it has no number
  std::string from;                          // the name of the run that it was predicted from
  double predicted_ns = 0, measured_ns = 0;  // means of the step time
  std::optional<trace::tuning::Interval> interval{};  // none: the prediction had none

  double error() const { return measured_ns / predicted_ns - 1; }
  bool is_within() const {
    return interval && interval->low_ns <= measured_ns && measured_ns <= interval->high_ns;
  }
};

struct PredictionHistory {
  std::vector<TestedPrediction> tested;  // of runs that went well, the oldest first
  std::size_t untested = 0;              // predictions of runs that go on, or did not go well
  std::size_t with_interval = 0, within = 0;
  std::optional<double> median_error;  // of what they miss by, whichever way; none: nothing tested
  std::optional<std::size_t> worst;    // in `tested`
  std::size_t took_longer = 0;         // than predicted
};
PredictionHistory prediction_history(const state::Ledger& ledger);

// What the predictions were worth, a sentence each. How to have some, each place says itself.
std::vector<std::string> history_words(const PredictionHistory& history);

// Both plots of them. Positions from 0, left or at the bottom, to 1; what lies outside is cut.
struct HistoryChart {
  struct Point {  // as in `tested`
    // Measured against predicted, on one scale: equal ones lie on the diagonal.
    float measured = 0, predicted = 0, low = 0, high = 0;
    // In parts of the prediction: how far the run was from it, and how far the interval reaches.
    float run = 0, error = 0, error_low = 0, error_high = 0;
    bool is_within = false, has_interval = false;
  };
  std::vector<Point> points;
  std::vector<Tick> times, errors;
  bool is_logarithmic = false;
  float no_error = 0.5f;
};
// None: no prediction was tested.
std::optional<HistoryChart> history_chart(const PredictionHistory& history);

}  // namespace shardlens::ui::present
