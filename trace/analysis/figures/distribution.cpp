#include "trace/analysis/figures/distribution.h"

#include <algorithm>
#include <cmath>

#include "trace/base/median.h"

namespace shardlens::trace::analysis {

namespace {

constexpr double kCellsPerFactorE = 1000;  // a cell is 0.1 % wide

std::int64_t cell_of(double duration_ns) {
  return std::llround(std::log(duration_ns + 1) * kCellsPerFactorE);
}

double middle_of(std::int64_t cell) {
  return std::exp(static_cast<double>(cell) / kCellsPerFactorE) - 1;
}

}  // namespace

Distribution distribution_of(std::vector<double> sample) {
  Distribution result;
  if (sample.empty()) return result;
  std::sort(sample.begin(), sample.end());
  const auto count = static_cast<double>(sample.size());
  double sum = 0;
  for (double value : sample) sum += value;
  result.count = static_cast<std::int64_t>(sample.size());
  result.mean = sum / count;
  result.median = base::quantile(sample, 0.5);
  result.p10 = base::quantile(sample, 0.1);
  result.p90 = base::quantile(sample, 0.9);
  result.p99 = base::quantile(sample, 0.99);
  result.max = sample.back();
  double squares = 0;
  for (double value : sample) squares += (value - result.mean) * (value - result.mean);
  if (sample.size() > 1) result.standard_deviation = std::sqrt(squares / (count - 1));
  return result;
}

void MedianAccumulator::add(double duration_ns) {
  ++count_;
  if (cells_.empty() && exact_.size() < kExactSamples) {
    exact_.push_back(duration_ns);
    return;
  }
  for (auto earlier : exact_) ++cells_[cell_of(earlier)];
  exact_ = {};
  ++cells_[cell_of(duration_ns)];
}

double MedianAccumulator::median() const {
  if (count_ == 0) return 0;
  if (cells_.empty()) {
    auto sample = exact_;
    const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
    std::nth_element(sample.begin(), middle, sample.end());
    if (sample.size() % 2 == 1) return *middle;
    return (*std::max_element(sample.begin(), middle) + *middle) / 2;
  }
  std::int64_t before = 0;
  for (const auto& [cell, samples] : cells_) {
    before += samples;
    if (2 * before >= count_) return middle_of(cell);
  }
  return 0;
}

}  // namespace shardlens::trace::analysis
