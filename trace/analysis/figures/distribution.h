// Statistics of samples. `distribution_of`: any thread; MedianAccumulator: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::analysis {

// Quantiles interpolate linearly between order statistics (Hyndman and Fan's type 7, NumPy's
// default); the standard deviation is the sample's (n − 1).
Distribution distribution_of(std::vector<double> sample);

// The median of any number of durations in bounded memory: exact up to kExactSamples, from then on
// the middle of a logarithmic cell at most 0.1 % wide. Depends on the samples, not on their order.
class MedianAccumulator {
 public:
  static constexpr std::size_t kExactSamples = 16384;

  void add(double duration_ns);  // ≥ 0
  double median() const;         // 0 without samples
  std::int64_t count() const { return count_; }

 private:
  std::vector<double> exact_;
  std::map<std::int64_t, std::int64_t> cells_;  // cell → samples, once exact_ is full
  std::int64_t count_ = 0;
};

}  // namespace shardlens::trace::analysis
