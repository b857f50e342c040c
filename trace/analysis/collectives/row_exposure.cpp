#include "trace/analysis/collectives/row_exposure.h"

#include "trace/analysis/figures/run_summary.h"

namespace shardlens::trace::analysis {

namespace {

bool counts(const StepFigures* step) {
  return step != nullptr && is_measured(*step) && has_detail(*step);
}

}  // namespace

void RowExposure::set(std::int64_t step, int rank, Parts parts) {
  open_[step][rank] = std::move(parts);
}

void RowExposure::add_to(std::vector<std::int64_t>& sums, const Step& step) {
  for (const auto& [rank, parts] : step) {
    for (const auto& [row, nanoseconds] : parts) {
      const auto index = static_cast<std::size_t>(row);
      if (sums.size() <= index) sums.resize(index + 1);
      sums[index] += nanoseconds;
    }
  }
}

void RowExposure::fold_before(std::int64_t step, const StepTable& steps) {
  while (!open_.empty() && open_.begin()->first < step) {
    if (counts(steps.find(open_.begin()->first))) add_to(folded_, open_.begin()->second);
    open_.erase(open_.begin());
  }
}

std::vector<double> RowExposure::means(const StepTable& steps, std::size_t rows) const {
  auto sums = folded_;
  sums.resize(rows);
  for (const auto& [index, step] : open_) {
    if (counts(steps.find(index))) add_to(sums, step);
  }
  double rank_steps = 0;
  for (const auto& step : steps.steps()) {
    if (counts(&step)) rank_steps += step.rank_count();
  }
  std::vector<double> result(rows);
  if (rank_steps == 0) return result;
  for (std::size_t row = 0; row < rows; ++row) {
    result[row] = static_cast<double>(sums[row]) / rank_steps;
  }
  return result;
}

}  // namespace shardlens::trace::analysis
