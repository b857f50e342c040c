// What rules about units look at alike. Any thread.
#pragma once

#include <string_view>

#include "trace/advice/facts/run_facts.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::advice {

const job::StrategyTraits& traits_of(const RunFacts& run);
bool has_sharded_units(const RunFacts& run);
// Whether the tag of a unit's collective ends so, whether or not it was prefetched.
bool is_of_units(std::string_view tag, std::string_view ending);
// Of a step, the mean over ranks: of collectives for units whose tag ends so.
double exposed_of_units(const RunFacts& run, std::string_view ending);
// The longest of them in the sampled steps.
Evidence longest_of_units(const RunFacts& run, std::string_view ending);
// Into an advice with changes: what they do to a rank's peak.
void add_memory_cost(const RunFacts& run, Advice& advice);

}  // namespace shardlens::trace::advice
