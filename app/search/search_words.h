// A search in words: costs, why a point was run or not, what was found and how sure that is. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/search/search.h"

namespace shardlens::app::search {

std::string cost_text(double cost, Goal goal);  // "404 ms", "1.21 k tokens/s", "137 MiB"
// With what it may be off by, in the same unit: "404.0 ± 12.5 ms".
std::string estimate_text(double cost, double half_width, Goal goal);
// The same of a prediction, and whether it is not sure enough to go by.
std::string predicted_text(const sweep::PredictedCost& predicted, Goal goal);
std::string_view why_text(Why why);      // "may win"
std::string ending_text(Ending ending);  // a sentence
// Of what a sweep's file says of it, which before it named endings held the sentence.
std::string ending_text(const std::string& kept);

// Why a point was not run; "" of one that was.
std::string why_not_text(const Belief& belief, Goal goal);

// How the best stands to the start, a sentence. None: the start could not be measured, which
// `results` tells the reason of.
std::string verdict_text(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                         const std::optional<Outcome>& outcome);

}  // namespace shardlens::app::search
