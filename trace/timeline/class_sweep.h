// One walk over what a rank did, from left to right: which class each moment belongs to. The same
// partition as exact_partition() without a set in between, since a window may hold a hundred
// thousand parts. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/analysis/intervals.h"
#include "trace/timeline/picture.h"

namespace shardlens::trace {

// What a rank did; absolute times, may reach beyond the window.
struct ActivitySets {
  const Intervals& compute;
  const Intervals& communication;
  const Intervals& copies;
  const Intervals& optimizer;  // its phases
};

namespace detail {

// Follows one set through time.
class SweepCursor {
 public:
  SweepCursor(const Intervals& set, std::int64_t from_ns)
      : at_(std::partition_point(set.begin(), set.end(),
                                 [&](const Interval& each) { return each.end_ns <= from_ns; })),
        end_(set.end()) {}

  bool holds(std::int64_t time_ns) const { return at_ != end_ && at_->start_ns <= time_ns; }
  // The next border after a time that move_to() was called with.
  std::int64_t border(std::int64_t time_ns) const {
    if (at_ == end_) return INT64_MAX;
    return at_->start_ns > time_ns ? at_->start_ns : at_->end_ns;
  }
  void move_to(std::int64_t time_ns) {
    while (at_ != end_ && at_->end_ns <= time_ns) ++at_;
  }

 private:
  Intervals::const_iterator at_, end_;
};

}  // namespace detail

// Calls visit(part, class) for the parts of the window in order, neighbours of one class as one.
template <typename Visit>
void sweep_classes(const ActivitySets& sets, Interval window, Visit&& visit) {
  using detail::SweepCursor;
  SweepCursor compute(sets.compute, window.start_ns),
      communication(sets.communication, window.start_ns), copies(sets.copies, window.start_ns),
      optimizer(sets.optimizer, window.start_ns);
  Interval part{window.start_ns, window.start_ns};
  PieceClass part_class = PieceClass::kIdle;
  for (std::int64_t time_ns = window.start_ns; time_ns < window.end_ns;) {
    PieceClass now = PieceClass::kIdle;
    if (communication.holds(time_ns)) {
      now = compute.holds(time_ns) ? PieceClass::kOverlapped : PieceClass::kExposed;
    } else if (compute.holds(time_ns)) {
      now = optimizer.holds(time_ns) ? PieceClass::kOptimizer : PieceClass::kCompute;
    } else if (copies.holds(time_ns)) {
      now = PieceClass::kCopy;
    }
    if (now != part_class) {
      if (part.end_ns > part.start_ns) visit(part, part_class);
      part = {time_ns, time_ns};
      part_class = now;
    }
    time_ns = std::min({compute.border(time_ns), communication.border(time_ns),
                        copies.border(time_ns), optimizer.border(time_ns), window.end_ns});
    part.end_ns = time_ns;
    for (SweepCursor* cursor : {&compute, &communication, &copies, &optimizer}) {
      cursor->move_to(time_ns);
    }
  }
  if (part.end_ns > part.start_ns) visit(part, part_class);
}

}  // namespace shardlens::trace
