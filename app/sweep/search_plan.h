// That a sweep runs only what may win, and what is to be won: app/search decides. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardlens::app::sweep {

// What is to be small: time per step, time per token, or the peak memory of the rank that needs
// most.
enum class Goal : std::uint8_t { kStepTime, kTokenRate, kMemory };
inline constexpr std::array kGoals{Goal::kStepTime, Goal::kTokenRate, Goal::kMemory};
constexpr std::string_view to_string(Goal goal) {
  constexpr std::array<std::string_view, kGoals.size()> kNames{"step_time", "tokens_per_s",
                                                               "memory"};
  return kNames[static_cast<std::size_t>(goal)];
}

struct SearchPlan {
  Goal goal = Goal::kStepTime;
  double budget_seconds = 600;
  std::string ended{};  // why, in words; "": it has not
  bool operator==(const SearchPlan&) const = default;
};

}  // namespace shardlens::app::sweep
