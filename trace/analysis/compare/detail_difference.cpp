#include "trace/analysis/compare/detail_difference.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::analysis {

namespace {

// Null: no rank has told anything.
const model::MemorySample* highest_peak(const RunFigures& run) {
  const model::MemorySample* highest = nullptr;
  for (const RankFigures& rank : run.ranks) {
    const bool is_higher =
        highest == nullptr || rank.peak.allocated_bytes() > highest->allocated_bytes();
    if (rank.peak.allocated_bytes() > 0 && is_higher) highest = &rank.peak;
  }
  return highest;
}

}  // namespace

std::vector<DetailDifference> memory_differences(const RunFigures& first, const RunFigures& second,
                                                 bool may_judge) {
  std::vector<DetailDifference> details;
  const auto *a = highest_peak(first), *b = highest_peak(second);
  if (a == nullptr || b == nullptr) return details;
  const auto peak = static_cast<double>(std::max(a->allocated_bytes(), b->allocated_bytes()));
  for (std::size_t i = 0; i < model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<model::MemoryCategory>(i);
    const bool is_told = a->knows(category) && b->knows(category);
    const bool is_empty = a->bytes[i] == 0 && b->bytes[i] == 0;
    if (category == model::MemoryCategory::kOutside || !is_told || is_empty) continue;
    DetailDifference detail{.kind = DetailKind::kMemory,
                            .name = std::string(model::to_string(category)),
                            .unit = FigureUnit::kBytes,
                            .first = static_cast<double>(a->bytes[i]),
                            .second = static_cast<double>(b->bytes[i])};
    if (may_judge) detail.beyond_noise = !is_same_memory(detail.first, detail.second, peak);
    details.push_back(std::move(detail));
  }
  sort_by_difference(details);
  return details;
}

void sort_by_difference(std::vector<DetailDifference>& details) {
  std::ranges::stable_sort(details, std::ranges::greater{}, [](const DetailDifference& detail) {
    return std::abs(detail.difference());
  });
}

}  // namespace shardlens::trace::analysis
