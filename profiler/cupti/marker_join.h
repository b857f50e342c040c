// Puts the starts and ends of NVTX ranges together. The flush thread only.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "profiler/cupti/activity_sink.h"

namespace shardlens::profiler {

class MarkerJoin {
 public:
  // A program that never ends its ranges must not fill the memory.
  static constexpr std::size_t kMostOpen = 1 << 16;

  explicit MarkerJoin(ActivitySink& sink) : sink_(sink) {}

  void add(const MarkerActivity& marker);

 private:
  // Ranges may overlap without nesting: each takes the highest row that is free when it starts.
  using Rows = std::bitset<RangeActivity::kMostDepth + 1>;
  struct Open {
    std::string name;
    std::uint32_t thread = 0;
    int depth = 0;
    std::int64_t start_ns = 0;
  };

  void start(const MarkerActivity& marker);
  void end(const MarkerActivity& marker);

  ActivitySink& sink_;
  std::unordered_map<std::uint32_t, Open> open_;  // by the range's id
  std::unordered_map<std::uint32_t, Rows> rows_;  // by thread: those in use
};

}  // namespace shardlens::profiler
