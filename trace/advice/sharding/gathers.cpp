#include "trace/advice/sharding/gathers.h"

#include "trace/model/events.h"

namespace shardlens::trace::advice {

const job::StrategyTraits& traits_of(const RunFacts& run) {
  return job::strategy_traits(run.settings().sharding_strategy);
}

bool has_sharded_units(const RunFacts& run) {
  return run.ranks() > 1 && traits_of(run).shards_parameters && !run.figures.units.empty();
}

bool is_of_units(std::string_view tag, std::string_view ending) {
  if (tag.ends_with(model::kPrefetchedEnding)) tag.remove_suffix(model::kPrefetchedEnding.size());
  return tag.ends_with(ending);
}

double exposed_of_units(const RunFacts& run, std::string_view ending) {
  double sum = 0;
  for (const auto& row : run.figures.collectives) {
    if (is_of_units(row.tag, ending)) sum += row.exposed_ns;
  }
  return sum;
}

Evidence longest_of_units(const RunFacts& run, std::string_view ending) {
  return run.longest_call(
      [&](std::string_view tag) { return is_of_units(tag, ending); },
      "the longest" + std::string(ending.starts_with(' ') ? "" : " ") + std::string(ending));
}

void add_memory_cost(const RunFacts& run, Advice& advice) {
  const auto next = run.with(advice.changes);
  const auto after = next ? run.peak_bytes(*next) : std::nullopt;
  if (!after) return;
  advice.saved_bytes = run.recorded_peak_bytes() - *after;
  if (advice.saved_bytes >= 0) return;
  advice.costs += (advice.costs.empty() ? "" : " ") + memory_words(-advice.saved_bytes) + ".";
}

}  // namespace shardlens::trace::advice
