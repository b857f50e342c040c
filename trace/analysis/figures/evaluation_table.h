// What a run's evaluations got, in the order of their steps, gathered from rows as they come. One
// thread.
#pragma once

#include <map>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace {

class EvaluationTable {
 public:
  // The lowest rank's row of a step counts, and of these the last. Returns the number of rows
  // ignored as impossible: 0 or 1.
  int add(const Evaluation& row);

  // By step.
  std::vector<Evaluation> figures() const;

 private:
  std::map<std::int64_t, Evaluation> by_step_;
};

// The one with the lowest loss, of equal ones the first; nullptr: none has a finite loss.
const Evaluation* best_evaluation(const std::vector<Evaluation>& evaluations);

}  // namespace shardlens::trace
