// What of a sorted list lies in a window of time, both ends included. Any thread.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "trace/base/intervals.h"

namespace shardlens::trace::predict {

// `time`: of a value, by which the list is sorted.
template <typename Value, typename Time>
std::span<const Value> within(const std::vector<Value>& sorted, const base::Interval& window,
                              Time time) {
  const auto from = std::ranges::lower_bound(sorted, window.start_ns, {}, time);
  return {from, std::ranges::upper_bound(from, sorted.end(), window.end_ns, {}, time)};
}

}  // namespace shardlens::trace::predict
