#include <algorithm>

#include "trace/advice/facts/run_facts.h"
#include "trace/advice/rules.h"
#include "trace/advice/sharding/gathers.h"
#include "trace/base/median.h"
#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

namespace {

constexpr double kLatencyShare = 0.5;  // of a gather, from which on larger units pay

std::int64_t all_unit_bytes(const RunFacts& run) {
  return base::sum_of(run.figures.units, &analysis::UnitFigures::bytes);
}

}  // namespace

std::optional<Advice> small_units(const RunFacts& run) {
  if (!has_sharded_units(run) || run.figures.units.size() < 3) return {};
  const auto fit =
      fit_latency(run, [](const auto& row) { return is_of_units(row.tag, " gather"); });
  const double exposed = exposed_of_units(run, " gather");
  if (!fit || exposed < run.noticeable_ns()) return {};
  const auto count = static_cast<std::int64_t>(run.figures.units.size());
  const std::int64_t mean_bytes = all_unit_bytes(run) / count;
  const double share = fit->latency_ns / fit->of(static_cast<double>(mean_bytes));
  if (share < kLatencyShare) return {};
  Advice advice;
  advice.title = "Gather larger units";
  advice.measured = percent_words(share) + " of a gather is latency";
  advice.why = "Gathering a unit takes " + time_words(fit->latency_ns) +
               " whatever its size, and " + base::counted(count, "unit") + " of " +
               base::bytes_text(mean_bytes) + " on average are gathered.";
  if (run.settings().wrap_policy == job::WrapPolicy::kSize) {
    advice.changes = {{"wrap_policy", "transformer_block"}};
    add_memory_cost(run, advice);
  } else {
    advice.gain_unknown = "No knob makes one unit of several blocks.";
  }
  advice.evidence = {longest_of_units(run, " gather")};
  advice.at_stake_ns = exposed * share;
  return advice;
}

std::optional<Advice> large_units(const RunFacts& run) {
  if (!has_sharded_units(run)) return {};
  if (run.settings().wrap_policy == job::WrapPolicy::kTransformerBlock) return {};
  const auto& largest = std::ranges::max(run.figures.units, {}, &analysis::UnitFigures::bytes);
  if (2 * largest.bytes < all_unit_bytes(run)) return {};
  Advice advice;
  advice.aim = Aim::kMemory;
  advice.changes = {{"wrap_policy", "transformer_block"}};
  add_memory_cost(run, advice);
  if (advice.saved_bytes <= 0) return {};
  advice.title = "Make a unit of each block";
  advice.measured = "saves " + base::bytes_text(advice.saved_bytes) + " per rank";
  advice.why = "Unit " + largest.name + " is " + base::bytes_text(largest.bytes) + " of " +
               base::bytes_text(all_unit_bytes(run)) +
               ": while it is gathered a rank holds most of the model, and nothing overlaps it.";
  advice.costs = "More collectives, each with its own latency.";
  advice.evidence = {longest_of_units(run, " gather")};
  return advice;
}

}  // namespace shardlens::trace::advice
