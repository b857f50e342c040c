#include <algorithm>

#include "trace/advice/rules.h"
#include "trace/advice/sharding/gathers.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::string_view kBackwardGather = "backward gather", kForwardGather = "forward gather";

Advice about_gathers(const RunFacts& run, std::string_view ending) {
  Advice advice;
  advice.at_stake_ns = exposed_of_units(run, ending);
  advice.measured = time_words(advice.at_stake_ns) + " of " + std::string(ending) + "s exposed";
  advice.evidence = {longest_of_units(run, ending)};
  return advice;
}

// Of the backward gathers that were looked at, half or more had the link to themselves when the
// host asked for them.
bool are_asked_late(const RunFacts& run) {
  std::int64_t all = 0, late = 0;
  for (const SampledCall& call : run.sample.calls()) {
    if (!is_of_units(call.tag, kBackwardGather)) continue;
    ++all;
    if (call.found_link_idle) ++late;
  }
  return all > 0 && 2 * late >= all;
}

// For how long in a step the GPU of a rank waits for its host, on the rank where that is longest.
double host_late_ns(const RunFacts& run) {
  double most = 0;
  for (const auto& [rank, kernels] : run.sample.kernels()) {
    most = std::max(most, static_cast<double>(kernels.host_late_ns) /
                              static_cast<double>(std::max<std::int64_t>(kernels.steps, 1)));
  }
  return most;
}

}  // namespace

std::optional<Advice> backward_prefetch(const RunFacts& run) {
  if (!has_sharded_units(run) || !traits_of(run).frees_after_forward) return {};
  if (run.settings().backward_prefetch == job::BackwardPrefetch::kPre) return {};
  Advice advice = about_gathers(run, kBackwardGather);
  if (advice.at_stake_ns < run.noticeable_ns()) return {};
  advice.title = "Prefetch the next unit in backward";
  advice.changes = {{"backward_prefetch", "pre"}};
  advice.why =
      "A unit is gathered again only when backward needs it or is done with the one before; asked "
      "for earlier it moves while that one is computed.";
  add_memory_cost(run, advice);
  return advice;
}

std::optional<Advice> forward_prefetch(const RunFacts& run) {
  if (!has_sharded_units(run) || run.settings().forward_prefetch) return {};
  Advice advice = about_gathers(run, kForwardGather);
  if (advice.at_stake_ns < run.noticeable_ns()) return {};
  advice.title = "Prefetch the next unit in forward";
  advice.changes = {{"forward_prefetch", "true"}};
  advice.why =
      "Forward waits for its units' parameters; the next unit can be asked for before "
      "this one is computed.";
  add_memory_cost(run, advice);
  return advice;
}

std::optional<Advice> late_prefetch(const RunFacts& run) {
  if (!has_sharded_units(run) || !run.is_gpu()) return {};
  if (run.settings().backward_prefetch != job::BackwardPrefetch::kPre) return {};
  Advice advice = about_gathers(run, kBackwardGather);
  const double late_ns = host_late_ns(run);
  if (advice.at_stake_ns < run.noticeable_ns() || late_ns < run.noticeable_ns()) return {};
  if (!are_asked_late(run)) return {};
  advice.title = "Let the host run ahead: prefetches come late";
  advice.why = "Gathers are asked for when the link already stands idle, and the GPU waits " +
               time_words(late_ns) +
               " of a step for its host: fewer launches or fewer reads of values on the host let "
               "it run ahead.";
  advice.gain_unknown = "No knob does this.";
  return advice;
}

}  // namespace shardlens::trace::advice
