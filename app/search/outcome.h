// What a search found, and how sure that is. Any thread.
#pragma once

#include <cstddef>
#include <optional>

#include "app/search/search.h"
#include "app/sweep/sweep_plan.h"

namespace shardlens::app::search {

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
