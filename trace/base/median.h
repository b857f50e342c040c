// The sum, the mean and the middle of a sample, and other places in it. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <vector>

namespace shardlens::trace::base {

// The sum of what `term` makes of each value; 0 where there is none.
template <typename Values, typename Term = std::identity>
auto sum_of(const Values& values, Term term = {}) {
  std::remove_cvref_t<decltype(std::invoke(term, *std::begin(values)))> sum{};
  for (const auto& each : values) sum += std::invoke(term, each);
  return sum;
}

// There must be a value.
inline double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// One of the values: of an even number the larger of the two in the middle. There must be one.
template <typename Value>
Value upper_median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Linear between neighbours (Hyndman and Fan 1996, type 7, as NumPy). `share`: from 0 to 1. There
// must be a value.
inline double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace shardlens::trace::base
