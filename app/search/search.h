// Which point of a grid is worth a run next, by what is predicted of it and how sure that is, and
// when to stop. Pure: the same results and forecasts, the same answers. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "app/search/belief.h"

namespace shardlens::app::search {

inline constexpr int kRounds = 3;  // runs of a point, at most

enum class Why : std::uint8_t {
  kStart,      // the point that it starts from
  kPromising,  // it may win beyond noise
  kUnknown,    // nothing is known of it
  kConfirms,   // the best or the start once more, to tell how sure that is
};
struct Choice {
  sweep::Slot slot;
  Why why = Why::kStart;
  std::optional<sweep::PredictedCost> predicted;
};

enum class Ending : std::uint8_t {
  kSettled,   // nothing predicted can win beyond noise, and the best is confirmed
  kNoTime,    // the budget does not hold the next run and what confirms it
  kNoResult,  // the start could not be measured
};
std::string_view to_string(Ending ending);  // "settled"

struct Decision {
  std::optional<Choice> choice;  // none: it ends, and why
  Ending ending = Ending::kSettled;
};
// `seconds_left`: of the budget.
Decision decide(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                const std::vector<Belief>& beliefs, double seconds_left);

}  // namespace shardlens::app::search
