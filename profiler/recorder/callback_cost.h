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
  bool sampled() {
    if (--until_sample_ != 0) return false;
    until_sample_ = kSampleEvery;
    return true;
  }
  // Who calls begins of one kind: operators, or nodes of autograd, whose begins take longer.
  struct Caller {
    double ns = 0;  // what each takes besides because there is a callback, where all is at hand
    std::int64_t least_ns = kLongestNs;  // of its callbacks so far
  };

  // The cost of the kSampleEvery callbacks that a sampled one of `measured_ns` stands for.
  std::int64_t scaled_ns(std::int64_t measured_ns) const {
    return std::max<std::int64_t>(within_limit(measured_ns) - clock_ns_, 0) * kSampleEvery;
  }
  // And of their caller. In a job not all is at hand: the caller takes as many times longer as the
  // callback does, compared with the quickest of its kind.
  std::int64_t scaled_ns(std::int64_t measured_ns, Caller& caller) const {
    const std::int64_t measured = within_limit(measured_ns);
    caller.least_ns = std::min(caller.least_ns, measured);
    // Preemption says nothing of the caller.
    const double slower = measured == kLongestNs ? 1
                                                 : static_cast<double>(measured) /
                                                       static_cast<double>(caller.least_ns);
    return scaled_ns(measured) + static_cast<std::int64_t>(caller.ns * slower * kSampleEvery);
  }

  static std::int64_t clock_now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  static std::int64_t within_limit(std::int64_t measured_ns) {
    return std::clamp<std::int64_t>(measured_ns, 1, kLongestNs);
  }

  std::int64_t clock_ns_ = 0;
  std::uint32_t until_sample_ = kSampleEvery;
};

}  // namespace shardlens::profiler
