// What a rank did lately, in order of time, so that what touches a window is found quickly. One
// owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shardlens::trace::analysis {

// T: start_ns, end_ns and operator<, which orders by start first.
template <typename T>
class TimeIndex {
 public:
  void add(T item) { items_.push_back(std::move(item)); }

  // Between the last add() and visit().
  void sort() {
    if (sorted_ == items_.size()) return;
    const auto added = items_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(added, items_.end());
    if (sorted_ > 0 && *added < *(added - 1)) {
      std::inplace_merge(items_.begin(), added, items_.end());
      sorted_ = 0;
    }
    latest_end_.resize(items_.size());
    for (std::size_t i = sorted_; i < items_.size(); ++i) {
      latest_end_[i] = std::max(i > 0 ? latest_end_[i - 1] : INT64_MIN, items_[i].end_ns);
    }
    sorted_ = items_.size();
  }

  // Calls visit(item) in order for all that touch [start_ns, end_ns).
  template <typename Visit>
  void visit(std::int64_t start_ns, std::int64_t end_ns, Visit visit) const {
    const auto first = std::upper_bound(latest_end_.begin(), latest_end_.end(), start_ns);
    for (auto i = static_cast<std::size_t>(first - latest_end_.begin());
         i < items_.size() && items_[i].start_ns < end_ns; ++i) {
      if (items_[i].end_ns > start_ns) visit(items_[i]);
    }
  }

  // Forgets what ended at or before `time_ns`.
  void trim_before(std::int64_t time_ns) {
    sort();
    std::erase_if(items_, [&](const T& item) { return item.end_ns <= time_ns; });
    sorted_ = 0;
    sort();
  }

  std::size_t size() const { return items_.size(); }

 private:
  std::vector<T> items_;
  std::vector<std::int64_t> latest_end_;  // of all items up to and including this one
  std::size_t sorted_ = 0;
};

}  // namespace shardlens::trace::analysis
