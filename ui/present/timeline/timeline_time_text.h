// Times as text, from single nanoseconds to hours, and the axis' ticks. Free of ImGui, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlens::ui::present {

// "812 ns", "14.9 ms", "3 min 12 s", "2 h 05 min": three or four significant digits.
std::string length_text(std::int64_t ns);
// Every digit down to `step_ns`, in the unit that suits the greatest of the axis: "415.123 ms".
std::string exact_text(std::int64_t ns, std::int64_t step_ns);

struct AxisTick {
  std::int64_t time_ns = 0;
  std::string label;
};
struct AxisPlan {
  std::vector<AxisTick> ticks;
  // What the labels count from beyond the origin: "415.123 ms", or "" for the origin itself.
  std::string base;
};
// At most `most` ticks within [start, end]; labels count from `origin_ns`, or, where they would
// grow too long for that, from a round time near the start.
AxisPlan plan_axis(std::int64_t start_ns, std::int64_t end_ns, std::int64_t origin_ns, int most);

}  // namespace shardlens::ui::present
