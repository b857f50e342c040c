// Which tiles of a level: few ranges of indices. One owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace shardlens::trace {

class LodTileRanges {
 public:
  // [first, last], with what was there joined.
  void add(std::int64_t first, std::int64_t last) {
    auto next = ranges_.upper_bound(first);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= last) return;
      if (before->second + 1 >= first) {
        first = before->first;
        ranges_.erase(before);
      }
    }
    while (next != ranges_.end() && next->first <= last + 1) {
      last = std::max(last, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, first, last);
  }
  void remove(std::int64_t index) {
    auto range = ranges_.upper_bound(index);
    if (range == ranges_.begin()) return;
    --range;
    const auto [first, last] = *range;
    if (last < index) return;
    ranges_.erase(range);
    if (first < index) ranges_.emplace(first, index - 1);
    if (last > index) ranges_.emplace(index + 1, last);
  }
  bool touches(std::int64_t first, std::int64_t last) const {
    const auto after = ranges_.upper_bound(last);
    return after != ranges_.begin() && std::prev(after)->second >= first;
  }
  bool holds(std::int64_t first, std::int64_t last) const {
    const auto after = ranges_.upper_bound(first);
    return after != ranges_.begin() && std::prev(after)->second >= last;
  }
  bool is_empty() const { return ranges_.empty(); }
  std::int64_t front() const { return ranges_.begin()->first; }
  std::int64_t count() const {
    std::int64_t sum = 0;
    for (const auto& [first, last] : ranges_) sum += last - first + 1;
    return sum;
  }
  void clear() { ranges_.clear(); }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // first to last
};

}  // namespace shardlens::trace
