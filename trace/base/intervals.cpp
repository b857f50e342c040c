#include "trace/base/intervals.h"

#include <algorithm>

namespace shardlens::trace::base {

namespace {

// Joins neighbours of a vector sorted by start, in place.
void join_sorted(std::vector<Interval>& sorted) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto next = sorted[i];
    if (next.end_ns <= next.start_ns) continue;
    if (kept > 0 && next.start_ns <= sorted[kept - 1].end_ns) {
      sorted[kept - 1].end_ns = std::max(sorted[kept - 1].end_ns, next.end_ns);
    } else {
      sorted[kept++] = next;
    }
  }
  sorted.resize(kept);
}

}  // namespace

Intervals::const_iterator first_ending_after(const Intervals& set, std::int64_t time_ns) {
  return std::partition_point(set.begin(), set.end(),
                              [&](const Interval& i) { return i.end_ns <= time_ns; });
}

Intervals normalize(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end())) {
    std::sort(intervals.begin(), intervals.end());
  }
  join_sorted(intervals);
  return intervals;
}

Intervals unite(const Intervals& a, const Intervals& b) {
  Intervals all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  join_sorted(all);
  return all;
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals common;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const Interval both{std::max(i->start_ns, j->start_ns), std::min(i->end_ns, j->end_ns)};
    if (both.start_ns < both.end_ns) common.push_back(both);
    (i->end_ns < j->end_ns) ? static_cast<void>(++i) : static_cast<void>(++j);
  }
  return common;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals rest;
  auto j = b.begin();
  for (auto piece : a) {
    while (j != b.end() && j->end_ns <= piece.start_ns) ++j;
    for (auto k = j; k != b.end() && k->start_ns < piece.end_ns; ++k) {
      if (k->start_ns > piece.start_ns) rest.push_back({piece.start_ns, k->start_ns});
      piece.start_ns = k->end_ns;
    }
    if (piece.start_ns < piece.end_ns) rest.push_back(piece);
  }
  return rest;
}

Intervals clip(const Intervals& set, Interval window) {
  Intervals inside;
  visit_within(set, window, [&](Interval part) { inside.push_back(part); });
  return inside;
}

std::int64_t length(const Intervals& set) {
  std::int64_t sum = 0;
  for (const auto& interval : set) sum += interval.length();
  return sum;
}

std::int64_t length_within(const Intervals& set, Interval window) {
  std::int64_t sum = 0;
  visit_within(set, window, [&](Interval part) { sum += part.length(); });
  return sum;
}

void insert(Intervals& set, const Intervals& added) {
  if (added.empty()) return;
  // Touching counts as joining, hence the interval that ends exactly where the addition starts.
  const auto first = std::partition_point(
      set.begin(), set.end(), [&](const Interval& i) { return i.end_ns < added.front().start_ns; });
  if (first == set.end()) {
    set.insert(set.end(), added.begin(), added.end());
    return;
  }
  const Intervals joined = unite(Intervals(first, set.end()), added);
  set.erase(first, set.end());
  set.insert(set.end(), joined.begin(), joined.end());
}

void trim_before(Intervals& set, std::int64_t time_ns) {
  set.erase(set.begin(), first_ending_after(set, time_ns));
  if (!set.empty()) set.front().start_ns = std::max(set.front().start_ns, time_ns);
}

}  // namespace shardlens::trace::base
