// What a sweep is to do: each of its points once per round, every round in a random order of its
// own, so that what drifts slowly meets all points alike. Plain values, any thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/sweep_points.h"
#include "trace/base/result.h"

namespace shardlens::app::sweep {

inline constexpr int kMostRepeats = 100;

// What is to be small: time per step, time per token, or the peak memory of the rank that needs
// most.
enum class Goal : std::uint8_t { kStepTime, kTokenRate, kMemory };
inline constexpr std::array kGoals{Goal::kStepTime, Goal::kTokenRate, Goal::kMemory};
constexpr std::string_view to_string(Goal goal) {
  constexpr std::array<std::string_view, kGoals.size()> kNames{"step_time", "tokens_per_s",
                                                               "memory"};
  return kNames[static_cast<std::size_t>(goal)];
}

inline constexpr std::size_t kSearchStart = 0;  // the point that it starts from

// Of a sweep that runs only what may win, as app/search decides: what is to be won, and in which
// time.
struct SearchPlan {
  Goal goal = Goal::kStepTime;
  double budget_seconds = 600;
  std::string ended{};  // why, as app/search names it; "": it has not
  bool operator==(const SearchPlan&) const = default;
};

// What a search expects of a run before it starts: its cost, and half of the 95 % interval.
struct PredictedCost {
  double cost = 0, half_width = 0;
  // An interval that reaches down to nothing tells nothing.
  bool is_sure() const { return half_width < cost; }
  bool operator==(const PredictedCost&) const = default;
};

struct SweepPlan {
  std::string name;
  SweepPoints points;
  int repeats = 2;
  std::uint64_t seed = 0;              // of the order
  bool stops_early = true;             // points that cannot win any more are not run again
  std::optional<SearchPlan> search{};  // none: all points are run
};

struct Slot {  // one run of a sweep
  std::size_t point = 0;
  int round = 0;  // from 0
  auto operator<=>(const Slot&) const = default;
};

// The points in the order of this round: the same for the same seed.
std::vector<std::size_t> order_of(const SweepPlan& plan, int round);

// A name that can be a file's, too: without "/" or control characters. Error kUsage.
trace::base::Result<void> check_sweep_name(const std::string& name);
// "sweep of bucket_cap_mb": what it is called if nobody says.
std::string default_name(const SweepPoints& points);

// Of each point, to tell its runs by: "caps-cap 4"; unique within the sweep.
std::vector<std::string> point_names(const SweepPlan& plan);
// "caps-cap 4, run 2"
std::string run_name(const std::string& point_name, int round);
// What all runs of the sweep are tagged with: its name as one word.
std::string tag_of(const SweepPlan& plan);

// What two plans of one name run differently: "steps: 40 there, 20 here; …"; "": the same runs. How
// often each, the order and whether it stops early may change while a sweep goes on.
std::string difference_text(const SweepPoints& there, const SweepPoints& here);

}  // namespace shardlens::app::sweep
