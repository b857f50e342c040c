// Interval algebra on nanosecond time: the ground of every duration that is shown. Any thread.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace shardlens::trace::base {

struct Interval {  // half-open: [start_ns, end_ns)
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  std::int64_t length() const { return end_ns - start_ns; }
  auto operator<=>(const Interval&) const = default;
};

// Rows with other times are damage, not measurements: reversed, longer than a day, after January
// 2043. What is drawn ends there, too: sums and differences of times within fit into a number.
inline constexpr std::int64_t kLongestRowNs = std::int64_t{86'400} * 1'000'000'000;
inline constexpr std::int64_t kLatestTimeNs = std::int64_t{1} << 61;
inline bool is_plausible_time(std::int64_t start_ns, std::int64_t end_ns) {
  return start_ns >= 0 && end_ns >= start_ns && end_ns < kLatestTimeNs &&
         end_ns - start_ns <= kLongestRowNs;
}

// Sorted, disjoint, not touching, none empty. All functions below take and return such sets, except
// the argument of `normalize`.
using Intervals = std::vector<Interval>;

// Sorts, drops empty and reversed intervals, joins what overlaps or touches.
Intervals normalize(std::vector<Interval> intervals);

Intervals unite(const Intervals& a, const Intervals& b);
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);  // a without b
Intervals clip(const Intervals& set, Interval window);
Intervals::const_iterator first_ending_after(const Intervals& set, std::int64_t time_ns);

// Calls visit(part) for the parts of the set inside the window: logarithmic in the set, linear in
// what it hits.
template <typename Visit>
void visit_within(const Intervals& set, Interval window, Visit&& visit) {
  if (window.end_ns <= window.start_ns) return;  // its length may not fit into a number
  for (auto i = first_ending_after(set, window.start_ns);
       i != set.end() && i->start_ns < window.end_ns; ++i) {
    visit(Interval{std::max(i->start_ns, window.start_ns), std::min(i->end_ns, window.end_ns)});
  }
}

// Calls visit(part) for `ns` in equal parts, one at the begin of each tenth of `whole`, or for all
// of it where that is no longer: what is done now and then on the way, nobody knows when.
template <typename Visit>
void spread_over(const Interval& whole, std::int64_t ns, Visit&& visit) {
  constexpr std::int64_t kParts = 10;
  if (ns >= whole.length()) return visit(whole);
  for (std::int64_t i = 0; i < kParts; ++i) {
    const std::int64_t start_ns = whole.start_ns + whole.length() * i / kParts;
    visit(Interval{start_ns, start_ns + ns * (i + 1) / kParts - ns * i / kParts});
  }
}

std::int64_t length(const Intervals& set);
// |set ∩ window| without building the intersection.
std::int64_t length_within(const Intervals& set, Interval window);

// set ∪= added; cheap when `added` lies at the end of the set, as it does while a run is live.
void insert(Intervals& set, const Intervals& added);
// set := set ∩ [time_ns, ∞)
void trim_before(Intervals& set, std::int64_t time_ns);

}  // namespace shardlens::trace::base
