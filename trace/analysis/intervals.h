// Interval algebra on nanosecond time: the ground of every duration that is shown. Any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace shardlens::trace {

struct Interval {  // half-open: [start_ns, end_ns)
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t length() const { return end_ns - start_ns; }
  auto operator<=>(const Interval&) const = default;
};

// Sorted, disjoint, not touching, none empty. All functions below take and return such sets, except
// the argument of `normalize`.
using Intervals = std::vector<Interval>;

// Sorts, drops empty and reversed intervals, joins what overlaps or touches.
Intervals normalize(std::vector<Interval> intervals);

Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);  // a without b
Intervals clip(const Intervals& set, Interval window);

std::int64_t length(const Intervals& set);
// |set ∩ window| without building the intersection: logarithmic in the set, linear in what it hits.
std::int64_t length_within(const Intervals& set, Interval window);

// set ∪= added; cheap when `added` lies at the end of the set, as it does while a run is live.
void insert(Intervals& set, const Intervals& added);
// set := set ∩ [time_ns, ∞)
void trim_before(Intervals& set, std::int64_t time_ns);

}  // namespace shardlens::trace
