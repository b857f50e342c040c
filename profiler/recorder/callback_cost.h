// Estimates what callbacks on the job's threads cost, by timing one in kSampleEvery; and the
// processor's counter of time, by which that is cheap.
#pragma once

#include <algorithm>
#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace shardlens::profiler::recorder {

// Of the processor's own counter of time, whose reading costs a third of a clock's, and does not
// wait for what was begun before: whether it ticks at one rate, also while the processor sleeps or
// changes its own. Any thread.
bool tick_counter_is_steady();

// In units of its own; steady_clock's where there is no such counter.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // without the header of all intrinsics, 48,000 lines
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Times spans of some nanoseconds, where a wall clock says too much: its reading waits for what the
// processor has begun, which it would have done beside what comes next. Any thread.
class CallbackClock {
 public:
  // Compares the counter with the wall clock for a millisecond; where it is not steady, the wall
  // clock is read instead.
  static CallbackClock calibrate();

  std::uint64_t now() const;
  // Less what reading twice adds.
  std::int64_t ns_between(std::uint64_t before, std::uint64_t after) const {
    const auto ticks = static_cast<std::int64_t>(after - before) - reading_;
    return std::max<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_), 0);
  }

 private:
  bool reads_counter_ = false;
  double ns_per_tick_ = 1;
  std::int64_t reading_ = 0;  // ticks between two readings with nothing in between
};

// One instance per thread.
class CallbackCost {
 public:
  // Odd, so that the begins and ends of operators, which mostly alternate, are timed in turn.
  static constexpr std::uint32_t kSampleEvery = 61;
  // A callback takes below a microsecond. What seems longer was preempted, which is not its cost
  // and must not count kSampleEvery times.
  static constexpr std::int64_t kLongestNs = 10'000;

  // At the beginning of a callback: whether this one is timed.
  bool sampled() {
    if (--until_sample_ != 0) return false;
    until_sample_ = kSampleEvery;
    return true;
  }
  // The cost of the kSampleEvery callbacks that a sampled one of `measured_ns` stands for.
  std::int64_t scaled_ns(std::int64_t measured_ns) const {
    return within_limit(measured_ns) * kSampleEvery;
  }
  // And of who calls them, each of whom takes `caller_ns` besides because there is a callback,
  // where all is at hand. In a job it is not.
  std::int64_t scaled_ns(std::int64_t measured_ns, double caller_ns) const {
    return scaled_ns(measured_ns) +
           static_cast<std::int64_t>((caller_ns + later_ns()) * kSampleEvery);
  }
  // How far from hand, callbacks tell that have the same to do each time: by how much they take
  // longer, on average, than the quickest. Code and data of the caller are about as many as
  // theirs, so it waits about as long for them; it does not do more work.
  void compare(std::int64_t measured_ns) {
    const std::int64_t measured = within_limit(measured_ns);
    if (measured == kLongestNs) return;  // preemption says nothing of the caller
    least_ns_ = std::min(least_ns_, measured);
    compared_ns_ += measured;
    ++compared_;
  }
  double later_ns() const {
    if (compared_ == 0) return 0;
    return static_cast<double>(compared_ns_) / static_cast<double>(compared_) -
           static_cast<double>(least_ns_);
  }

 private:
  static std::int64_t within_limit(std::int64_t measured_ns) {
    return std::clamp<std::int64_t>(measured_ns, 0, kLongestNs);
  }

  std::uint32_t until_sample_ = kSampleEvery;
  std::int64_t least_ns_ = kLongestNs, compared_ns_ = 0, compared_ = 0;
};

}  // namespace shardlens::profiler::recorder
