// The middle of a sample. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardlens::trace::base {

// One of the values: of an even number the larger of the two in the middle. There must be one.
template <typename Value>
Value upper_median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace shardlens::trace::base
