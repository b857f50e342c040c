// Which point of a grid is worth a run next, by what is predicted of it and how sure that is, when
// to stop, and what was found. Pure: the same results and forecasts, the same answers. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/search/belief.h"
#include "app/sweep/sweep_plan.h"

namespace shardlens::app::search {

inline constexpr int kRounds = 3;  // runs of a point, at most

enum class Why : std::uint8_t {
  kStart,      // the point that it starts from
  kPromising,  // it may win beyond noise
  kUnknown,    // nothing is known of it
  kConfirms,   // the best or the start once more, to tell how sure that is
};
struct Choice {
  sweep::Slot slot;
  Why why = Why::kStart;
  std::optional<sweep::PredictedCost> predicted;
};

enum class Ending : std::uint8_t {
  kSettled,   // nothing predicted can win beyond noise, and the best is confirmed
  kNoTime,    // the budget does not hold the next run and what confirms it
  kNoResult,  // the start could not be measured
};
std::string_view to_string(Ending ending);  // "settled"

struct Decision {
  std::optional<Choice> choice;  // none: it ends, and why
  Ending ending = Ending::kSettled;
};
// `seconds_left`: of the budget.
Decision decide(const sweep::SweepResults& results, const std::vector<Belief>& beliefs,
                double seconds_left);

// What a search found, and how sure that is.
struct Outcome {
  std::size_t best = 0;                        // may be the start
  std::optional<double> base_cost, best_cost;  // means over the runs that `change` is of
  int base_runs = 0, best_runs = 0;            // so many
  int others = 0;                              // points that were measured beside the start
  // Best ÷ start − 1, −0.1: a tenth less. The run by which the best was chosen is left out once
  // there are others: it is low by choice. None: the best is the start.
  std::optional<double> change;
  bool leaves_choice_out = false;  // that run is
  // Of it, 95 %: Student's t with the spread between runs of the same point, pooled over points; of
  // several points that ran more than once, at 5 % ÷ their number. None: no point ran twice.
  std::optional<double> half_width;

  // What is left of the change without the run by which the best was chosen may be none.
  bool is_better() const { return change && *change < 0; }
  // To be taken over.
  std::size_t chosen() const { return is_better() ? best : sweep::kSearchStart; }
  bool is_sure() const { return change && half_width && *change + *half_width < 0; }
};

// None: the start could not be measured.
std::optional<Outcome> outcome_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const std::vector<Belief>& beliefs);

}  // namespace shardlens::app::search
