#include "trace/analysis/figures/evaluation_table.h"

#include <cmath>

namespace shardlens::trace::analysis {

int EvaluationTable::add(const model::Evaluation& row) {
  if (row.rank < 0 || row.step < 0 || row.targets < 0 || row.sequences < 0) return 1;
  const auto [at, is_new] = by_step_.try_emplace(row.step, row);
  if (!is_new && row.rank <= at->second.rank) at->second = row;
  return 0;
}

std::vector<model::Evaluation> EvaluationTable::figures() const {
  std::vector<model::Evaluation> rows;
  for (const auto& [step, row] : by_step_) rows.push_back(row);
  return rows;
}

const model::Evaluation* best_evaluation(const std::vector<model::Evaluation>& evaluations) {
  const model::Evaluation* best = nullptr;
  for (const model::Evaluation& each : evaluations) {
    if (std::isfinite(each.loss) && (best == nullptr || each.loss < best->loss)) best = &each;
  }
  return best;
}

}  // namespace shardlens::trace::analysis
