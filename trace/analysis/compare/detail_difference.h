// What else differs between two runs, in finer terms than the parts of a step. These lists do not
// sum: an operator contains others, a collective overlaps computation. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::trace::analysis {

enum class DetailKind : std::uint8_t { kWork, kCollective, kTag, kMemory };
inline constexpr int kDetailKinds = 4;

struct DetailDifference {
  DetailKind kind = DetailKind::kWork;
  std::string name;  // "aten::mm", "all_reduce 4.0 MiB", "bucket 3", "activations"
  FigureUnit unit = FigureUnit::kNanoseconds;  // per step, mean over ranks; or bytes
  double first = 0, second = 0;
  std::optional<double> half_width{};  // of the interval at the level of its verdict
  std::optional<bool> beyond_noise{};
  // It ran in every step of one run and in none of the other. That is no matter of chance, so that
  // it is beyond noise with no interval: how long it took is that one run's to tell.
  bool is_only_in_one = false;

  double difference() const { return second - first; }
};

// The composition at the peak of the rank whose tensors need most, without what is outside of
// PyTorch; it sums to the peak of tensors. A category that is not told of both is left out.
std::vector<DetailDifference> memory_differences(const RunFigures& first, const RunFigures& second,
                                                 bool may_judge);

// The greatest difference first.
void sort_by_difference(std::vector<DetailDifference>& details);

}  // namespace shardlens::trace::analysis
