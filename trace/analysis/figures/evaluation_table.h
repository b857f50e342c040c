// What a run's evaluations got, in the order of their steps, gathered from rows as they come. One
// thread.
#pragma once

#include <map>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::analysis {

class EvaluationTable {
 public:
  // The lowest rank's row of a step counts, and of these the last. Returns the number of rows
  // ignored as impossible: 0 or 1.
  int add(const model::Evaluation& row);

  // By step.
  std::vector<model::Evaluation> figures() const;

 private:
  std::map<std::int64_t, model::Evaluation> by_step_;
};

// The one with the lowest loss, of equal ones the first; nullptr: none has a finite loss.
const model::Evaluation* best_evaluation(const std::vector<model::Evaluation>& evaluations);

}  // namespace shardlens::trace::analysis
