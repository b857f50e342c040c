// The stretches of time in which anything was recorded: what lies between two events counts as
// recorded too, unless it is very long. One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/store/lod/lod_ribbon.h"

namespace shardlens::trace {

inline constexpr std::int64_t kLodGapNs = std::int64_t{1} << 38;  // 275 s

class LodStretches {
 public:
  LodStretches() = default;
  explicit LodStretches(Intervals stretches) : stretches_(std::move(stretches)) {}

  // [start_ns, end_ns] holds an event; what is new is added to `added`, unless it is null.
  void add(std::int64_t start_ns, std::int64_t end_ns, Intervals* added = nullptr);
  // Ordered, disjoint, with gaps of more than kLodGapNs.
  const Intervals& all() const { return stretches_; }
  bool is_empty() const { return stretches_.empty(); }

 private:
  void insert(Interval interval, Intervals* added);

  Intervals stretches_;
};

}  // namespace shardlens::trace
