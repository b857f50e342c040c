// Which collectives are measured, and in which order. The same on all ranks. Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trainer::calibration {

inline constexpr std::int64_t kSmallestBytes = 1024;
inline constexpr std::int64_t kLargestBytes = std::int64_t{256} << 20;

// From kSmallestBytes on twice as large each, the last one being `largest`, or kLargestBytes.
std::vector<std::int64_t> size_ladder(std::int64_t largest);

// What the strategies ask for.
inline constexpr trace::model::CollectiveFunction kFunctions[] = {
    trace::model::CollectiveFunction::kAllReduce, trace::model::CollectiveFunction::kAllGather,
    trace::model::CollectiveFunction::kReduceScatter, trace::model::CollectiveFunction::kBroadcast};

struct MeasuredCall {
  std::size_t group = 0;  // of those that the job has
  trace::model::CollectiveFunction function = trace::model::CollectiveFunction::kAllReduce;
  std::int64_t bytes = 0;

  bool operator==(const MeasuredCall&) const = default;
};

// Finds out what fits into the time that there is, smallest sizes first; from then on all that fits
// is measured in another order in each round, so that what changes with time spoils no size alone.
class MeasuringPlan {
 public:
  MeasuringPlan(std::size_t groups, std::int64_t largest_bytes, std::chrono::nanoseconds time,
                std::uint64_t seed);

  // One size after the other, each function and group that is still in question; empty: through.
  std::vector<MeasuredCall> next_size();
  // Of such a call no larger size would be tried: it is worth a second look whether something else
  // held it up.
  bool is_long(std::chrono::nanoseconds time) const { return 2 * time > longest_; }
  // How long each of them took, on the slowest rank. Of those that take too long for a round larger
  // sizes are left out.
  void took(const std::vector<std::chrono::nanoseconds>& times);

  // After that; `round` from 1 on. Short calls come several times.
  std::vector<MeasuredCall> round(std::int64_t round) const;

 private:
  struct Known {
    MeasuredCall call;
    std::chrono::nanoseconds time{};
  };

  std::vector<std::int64_t> sizes_;
  std::size_t next_size_ = 0;
  std::vector<MeasuredCall> asked_;
  std::vector<MeasuredCall> open_;  // groups and functions whose next size is tried
  std::vector<Known> known_;
  std::chrono::nanoseconds longest_;  // of one call
  std::uint64_t seed_;
};

}  // namespace shardlens::trainer::calibration
