// What a moment of a rank counts as, and the one walk that cuts time by it: everything that says
// overlapped, exposed or idle follows from here. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/base/intervals.h"

namespace shardlens::trace::base {

enum class TimeClass : std::uint8_t {
  kCompute,
  kOptimizer,   // compute in the optimizer's phase
  kOverlapped,  // communication under compute
  kExposed,     // communication with nothing to hide it
  kCopy,
  kIdle,
  kWaiting,  // of kExposed, what waits for the last rank
  kHost,     // operators and launches
  kData,     // phases from here
  kForward,
  kBackward,
  kOptimizerPhase,
  kEvaluation,
  kOtherPhase,
};
// Those that partition time: kCompute to kIdle.
inline constexpr int kPartitionClasses = 6;
using TimeByClass = std::array<std::int64_t, kPartitionClasses>;  // nanoseconds
constexpr std::size_t index_of(TimeClass time_class) {
  return static_cast<std::size_t>(time_class);
}

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
      : at_(first_ending_after(set, from_ns)), end_(set.end()) {
    move_to(from_ns);
  }

  bool holds() const { return holds_; }
  std::int64_t next_border() const { return border_; }
  void move_to(std::int64_t time_ns) {
    while (at_ != end_ && at_->end_ns <= time_ns) ++at_;
    holds_ = at_ != end_ && at_->start_ns <= time_ns;
    border_ = at_ == end_ ? INT64_MAX : holds_ ? at_->end_ns : at_->start_ns;
  }

 private:
  Intervals::const_iterator at_, end_;
  bool holds_ = false;
  std::int64_t border_ = INT64_MAX;
};

}  // namespace detail

// Calls visit(part, class) for the parts of the window in order, neighbours of one class as one.
// Communication under compute is overlapped; then compute, the optimizer's apart; communication
// alone is exposed; then copies; the rest is idle. No set is built in between, since a window may
// hold a hundred thousand parts.
template <typename Visit>
void sweep_classes(const ActivitySets& sets, Interval window, Visit&& visit) {
  using detail::SweepCursor;
  SweepCursor compute(sets.compute, window.start_ns),
      communication(sets.communication, window.start_ns), copies(sets.copies, window.start_ns),
      optimizer(sets.optimizer, window.start_ns);
  Interval part{window.start_ns, window.start_ns};
  TimeClass part_class = TimeClass::kIdle;
  while (part.end_ns < window.end_ns) {
    const TimeClass now =
        communication.holds() ? compute.holds() ? TimeClass::kOverlapped : TimeClass::kExposed
        : compute.holds()     ? optimizer.holds() ? TimeClass::kOptimizer : TimeClass::kCompute
        : copies.holds()      ? TimeClass::kCopy
                              : TimeClass::kIdle;
    if (now != part_class) {
      if (part.length() > 0) visit(part, part_class);
      part.start_ns = part.end_ns;
      part_class = now;
    }
    part.end_ns = std::min({compute.next_border(), communication.next_border(),
                            copies.next_border(), optimizer.next_border(), window.end_ns});
    for (SweepCursor* cursor : {&compute, &communication, &copies, &optimizer}) {
      if (cursor->next_border() <= part.end_ns) cursor->move_to(part.end_ns);
    }
  }
  if (part.length() > 0) visit(part, part_class);
}

// Sums to the window's length.
inline TimeByClass time_by_class(const ActivitySets& sets, Interval window) {
  TimeByClass sums{};
  sweep_classes(sets, window, [&](Interval part, TimeClass time_class) {
    sums[index_of(time_class)] += part.length();
  });
  return sums;
}

}  // namespace shardlens::trace::base
