// When something held a GPU's clocks down, and which steps that touched. Definitions:
// docs/NUMBERS.md. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::trace::analysis {

struct ThrottledTime {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t limits = 0;  // of kThrottling
};

// The samples of kClockLimits of one GPU, as they come. A sample stands for the time since the one
// before, but for no more than a second: the sampler may have stood still. The first stands for
// nothing.
class ThrottledTimes {
 public:
  static constexpr std::int64_t kLongestNs = 1'000'000'000;  // five samples

  // Earlier than the last one: left out, and false.
  bool add(std::int64_t time_ns, double limits);
  const std::vector<ThrottledTime>& times() const { return times_; }

  // What touched [start, end), and for how long.
  struct Touch {
    std::uint32_t limits = 0;
    std::int64_t ns = 0;
  };
  Touch in(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  std::int64_t last_ns_ = INT64_MIN;
  std::vector<ThrottledTime> times_;  // by time, disjoint; neighbours differ
};

// Into the steps of that rank which it touched.
void mark_throttled(std::vector<StepFigures>& steps, int rank, const ThrottledTimes& throttled);

// Of measured steps: "12 of 30 steps throttled on ranks 0 and 3: power cap"; "" where none was.
std::string throttling_sentence(const std::vector<StepFigures>& steps);
// "rank 3: thermal slowdown for 120 ms", of one step, the longest first; "" for none.
std::string throttling_note(const StepFigures& step);

}  // namespace shardlens::trace::analysis
