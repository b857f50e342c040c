// Estimates what callbacks on the job's threads cost, by timing one in kSampleEvery.
// One instance per thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace shardlens::profiler {

class CallbackCost {
 public:
  // Odd, so that the begins and ends of operators, which mostly alternate, are timed in turn.
  static constexpr std::uint32_t kSampleEvery = 61;
  // A callback takes below a microsecond. What seems longer was preempted, which is not its cost
  // and must not count kSampleEvery times.
  static constexpr std::int64_t kLongestNs = 10'000;

  // What reading the clock twice adds to a measured span; measure once at start.
  static std::int64_t calibrate_ns();

  explicit CallbackCost(std::int64_t clock_ns) : clock_ns_(clock_ns) {}

  // At the beginning of a callback: whether this one is timed.
  bool sampled() { return ++calls_ % kSampleEvery == 0; }
  // The cost of the kSampleEvery callbacks that a sampled one of `measured_ns` stands for.
  // `caller_ns`: what each costs besides because there is a callback to be called, where all is at
  // hand. In a job it is not: the caller takes as many times longer as the callback does, compared
  // with the quickest so far.
  std::int64_t scaled_ns(std::int64_t measured_ns, double caller_ns = 0) {
    const std::int64_t measured = std::clamp<std::int64_t>(measured_ns, 1, kLongestNs);
    // Of begins: outside of recorded steps an end does nothing, and would make all of them slow.
    if (caller_ns > 0) least_ns_ = std::min(least_ns_, measured);
    // Preemption says nothing of the caller.
    const double slower =
        measured == kLongestNs ? 1 : static_cast<double>(measured) / static_cast<double>(least_ns_);
    const double caller = caller_ns * slower;
    return std::max<std::int64_t>(measured - clock_ns_, 0) * kSampleEvery +
           static_cast<std::int64_t>(caller * kSampleEvery);
  }

  static std::int64_t clock_now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  std::int64_t clock_ns_ = 0;
  std::int64_t least_ns_ = kLongestNs;
  std::uint32_t calls_ = 0;
};

}  // namespace shardlens::profiler
