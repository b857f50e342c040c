// Sums and differences of times that damaged files make absurd: they stop at the ends of the range
// instead of running over. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace shardlens::trace::base {

constexpr std::int64_t saturated_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t saturated_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

}  // namespace shardlens::trace::base
