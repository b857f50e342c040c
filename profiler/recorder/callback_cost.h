// Estimates what callbacks on the job's threads cost, by timing one in kSampleEvery.
// One instance per thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace shardlens::profiler::recorder {

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
  // The cost of the kSampleEvery callbacks that a sampled one of `measured_ns` stands for.
  std::int64_t scaled_ns(std::int64_t measured_ns) const {
    return std::max<std::int64_t>(within_limit(measured_ns) - clock_ns_, 0) * kSampleEvery;
  }
  // And of who calls them, each of whom takes `caller_ns` besides because there is a callback,
  // where all is at hand. In a job it is not.
  std::int64_t scaled_ns(std::int64_t measured_ns, double caller_ns) const {
    return scaled_ns(measured_ns) + static_cast<std::int64_t>(caller_ns * slower() * kSampleEvery);
  }
  // How far from hand, callbacks tell that have the same to do each time: by how much they take
  // longer, on average, than the quickest.
  void compare(std::int64_t measured_ns) {
    const std::int64_t measured = within_limit(measured_ns);
    if (measured == kLongestNs) return;  // preemption says nothing of the caller
    least_ns_ = std::min(least_ns_, measured);
    compared_ns_ += measured;
    ++compared_;
  }
  double slower() const {
    if (compared_ == 0) return 1;
    return static_cast<double>(compared_ns_) / static_cast<double>(compared_ * least_ns_);
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
  std::int64_t least_ns_ = kLongestNs, compared_ns_ = 0, compared_ = 0;
};

}  // namespace shardlens::profiler::recorder
