#include "trace/predict/schedule/critical_calls.h"

#include <algorithm>
#include <cstdint>

namespace shardlens::trace::predict {

std::vector<std::size_t> critical_calls(const StepProgram& program, const StepSchedule& schedule) {
  const auto& calls = schedule.calls;
  std::vector<std::size_t> critical;
  std::int64_t until_ns = schedule.end_ns;
  for (auto wait = schedule.waits.rbegin(); wait != schedule.waits.rend(); ++wait) {
    if (wait->end_ns > until_ns) continue;  // it goes on while a later one runs
    std::size_t call = wait->call;
    critical.push_back(call);
    const auto is_held_up = [&](std::size_t i) { return calls[i].start_ns > calls[i].ready_ns; };
    while (is_held_up(call)) {
      const auto on_lane = [&](std::size_t i) {
        return program.calls[calls[i].call].lane == program.calls[calls[call].call].lane;
      };
      std::size_t before = call;
      while (before > 0 && !on_lane(before - 1)) --before;
      if (before == 0) break;
      critical.push_back(call = before - 1);
    }
    until_ns = calls[call].ready_ns;
  }
  std::ranges::sort(critical);
  const auto same = std::ranges::unique(critical);
  critical.erase(same.begin(), same.end());
  return critical;
}

std::size_t last_train_begin(const StepSchedule& schedule,
                             const std::vector<std::size_t>& critical) {
  std::size_t first = critical.size() - 1;
  while (first > 0 &&
         schedule.calls[critical[first]].start_ns == schedule.calls[critical[first - 1]].end_ns) {
    --first;
  }
  return critical[first];
}

}  // namespace shardlens::trace::predict
