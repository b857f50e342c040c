#include "trace/advice/rules.h"
#include "trace/advice/sharding/gathers.h"
#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/run_info.h"
#include "trace/predict/plan/traffic_model.h"

namespace shardlens::trace::advice {

namespace {

constexpr double kFewer = 0.8;  // of the bytes that are sent: less is worth another strategy

std::string name_of(job::Strategy strategy) {
  return std::string(job::strategy_traits(strategy).name);
}

std::optional<job::Settings> with_strategy(const RunFacts& run, job::Strategy strategy) {
  return run.with({{"sharding_strategy", name_of(strategy)}});
}

predict::TrafficPrediction traffic_of(const RunFacts& run, const job::Settings& settings) {
  const auto job = run.job(settings);
  return job ? predict::predict_traffic(*job) : predict::TrafficPrediction{};
}

// The same, but units are kept from forward to backward, or the other way round.
std::optional<job::Strategy> resharding_twin(job::Strategy strategy) {
  switch (strategy) {
    case job::Strategy::kFullShard:
      return job::Strategy::kShardGradOp;
    case job::Strategy::kShardGradOp:
      return job::Strategy::kFullShard;
    case job::Strategy::kHybridShard:
      return job::Strategy::kHybridShardZero2;
    case job::Strategy::kHybridShardZero2:
      return job::Strategy::kHybridShard;
    default:
      return std::nullopt;
  }
}

Advice to_strategy(const RunFacts& run, job::Strategy strategy) {
  Advice advice;
  advice.changes = {{"sharding_strategy", name_of(strategy)}};
  add_memory_cost(run, advice);
  return advice;
}

}  // namespace

std::optional<Advice> keep_units(const RunFacts& run) {
  if (!has_sharded_units(run) || !traits_of(run).frees_after_forward) return {};
  const auto twin = resharding_twin(run.settings().sharding_strategy);
  const auto next = twin ? with_strategy(run, *twin) : std::nullopt;
  const double exposed = exposed_of_units(run, "backward gather");
  if (!next || exposed < run.noticeable_ns()) return {};
  // Which costs less memory, and does nothing where units are kept.
  if (run.settings().backward_prefetch != job::BackwardPrefetch::kPre) return {};
  // Of our own runs what is not known does not fit; of another program's no trace tells it.
  const auto fits = run.fits(*next);
  const bool tells_memory = model::has_settings(run.figures.info);
  if (fits == false || (!fits && tells_memory)) return {};
  Advice advice = to_strategy(run, *twin);
  advice.title = "Keep units from forward to backward: " + name_of(*twin);
  advice.measured = time_words(exposed) + " of backward gathers exposed";
  advice.why = "Units are freed after forward and gathered again";
  if (fits) {
    advice.why +=
        ", and " + base::bytes_text(run.usable_bytes()) + " per rank are enough to keep them.";
  } else {
    advice.why += ".";
    advice.costs = "Units stay gathered until backward; whether that fits no trace tells.";
  }
  advice.evidence = {longest_of_units(run, "backward gather")};
  advice.at_stake_ns = exposed;
  return advice;
}

std::optional<Advice> free_units(const RunFacts& run) {
  if (!has_sharded_units(run) || traits_of(run).frees_after_forward) return {};
  if (run.fits(run.settings()) != false) return {};
  const auto twin = resharding_twin(run.settings().sharding_strategy);
  if (!twin || !with_strategy(run, *twin)) return {};
  Advice advice = to_strategy(run, *twin);
  if (advice.saved_bytes <= 0) return {};
  advice.aim = Aim::kMemory;
  advice.title = "Free units after forward: " + name_of(*twin);
  advice.measured = "saves " + base::bytes_text(advice.saved_bytes) + " per rank";
  advice.why = "The peak of " + base::bytes_text(run.recorded_peak_bytes()) + " nearly fills the " +
               base::bytes_text(run.usable_bytes()) +
               " that a rank may use, and all units stay gathered until backward.";
  advice.costs = "Each unit is gathered a second time.";
  advice.evidence = {run.in_typical_step("memory at its peak")};
  return advice;
}

std::optional<Advice> less_communication(const RunFacts& run) {
  const double exposed = run.figures.summary.exposed_ns;
  if (run.ranks() < 2 || exposed < run.noticeable_ns() || run.nodes() > 1) return {};
  const auto now = static_cast<double>(traffic_of(run, run.settings()).executed_bytes());
  if (now <= 0) return {};
  std::optional<job::Strategy> best;
  std::int64_t least_bytes = 0, least_peak = 0;
  for (const auto& traits : job::strategies()) {
    const auto next = with_strategy(run, traits.strategy);
    if (!next || traits.strategy == run.settings().sharding_strategy || traits.has_groups) continue;
    // Time is no reason to learn something else: a hook that wakes up, gradients rounded.
    if (!job::learns_the_same(run.settings(), traits.strategy)) continue;
    const std::int64_t bytes = traffic_of(run, *next).executed_bytes();
    const auto peak = run.peak_bytes(*next);
    if (static_cast<double>(bytes) > kFewer * now || !peak || run.fits(*next) != true) continue;
    if (best && std::pair(bytes, *peak) >= std::pair(least_bytes, least_peak)) continue;
    best = traits.strategy;
    least_bytes = bytes;
    least_peak = *peak;
  }
  if (!best) return {};
  Advice advice = to_strategy(run, *best);
  const double share = static_cast<double>(least_bytes) / now;
  advice.title = "Send less: " + name_of(*best) + " fits";
  advice.measured = time_words(exposed) + " of communication exposed";
  advice.why = name_of(*best) + " sends " + base::bytes_text(least_bytes) +
               " per rank and step instead of " + base::bytes_text(static_cast<std::int64_t>(now)) +
               ", and its peak of " + base::bytes_text(least_peak) + " fits.";
  advice.evidence = {run.in_typical_step("exposed communication")};
  advice.at_stake_ns = exposed * (1 - share);
  return advice;
}

std::optional<Advice> hybrid_sharding(const RunFacts& run) {
  if (!has_sharded_units(run) || traits_of(run).has_groups || run.nodes() < 2) return {};
  const double exposed = exposed_of_units(run, " gather") + exposed_of_units(run, " reduce");
  if (exposed < run.noticeable_ns() || run.ranks() % run.nodes() != 0) return {};
  if (run.ranks() / run.nodes() < 2) return {};
  const job::Strategy hybrid = traits_of(run).frees_after_forward
                                   ? job::Strategy::kHybridShard
                                   : job::Strategy::kHybridShardZero2;
  Advice advice = to_strategy(run, hybrid);
  advice.changes.push_back({"shard_group_size", std::to_string(run.ranks() / run.nodes())});
  const auto next = run.with(advice.changes);
  if (!next || !run.may_fit(*next)) return {};
  const std::int64_t now = traffic_of(run, run.settings()).between_nodes();
  const std::int64_t then = traffic_of(run, *next).between_nodes();
  if (now <= 0 || then >= now) return {};
  advice.title = "Shard within a node, replicate across: " + name_of(hybrid);
  advice.measured = base::bytes_text(now) + " per rank and step leave the node";
  advice.why = "Shards lie on " + base::counted(run.nodes(), "node") +
               ", so that every gather crosses the link between them; " + name_of(hybrid) +
               " sends " + base::bytes_text(then) + " across.";
  advice.evidence = {longest_of_units(run, " gather")};
  advice.at_stake_ns = exposed * (1 - static_cast<double>(then) / static_cast<double>(now));
  return advice;
}

}  // namespace shardlens::trace::advice
