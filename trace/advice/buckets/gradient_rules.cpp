#include <algorithm>

#include "trace/advice/buckets/bucket_sizes.h"
#include "trace/advice/rules.h"
#include "trace/base/median.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/base/words/quantity.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::advice {

namespace {

// Of what is exposed, while data move: waiting for others does not get shorter with fewer bytes.
double exposed_transfer_ns(const RunFacts& run) {
  const auto& summary = run.figures.summary;
  return summary.exposed_ns - summary.exposed_wait_ns.value_or(0);
}

bool reduces_in_32_bits(const RunFacts& run) {
  const job::Settings acting = model::acting_settings(run.figures.info, {});
  if (job::strategy_traits(acting.sharding_strategy).has_units) {
    return acting.reduce_dtype == job::DataType::kFp32;
  }
  return acting.communication_hook == job::CommunicationHook::kNone;
}

bool computes_in_16_bits(const job::Settings& settings) {
  return settings.precision != job::Precision::kFp32 ||
         settings.param_dtype == job::DataType::kBf16 ||
         settings.param_dtype == job::DataType::kFp16;
}

// Gradients that come in a step of one rank: of all tensors in buckets, in each micro-batch.
std::int64_t all_gradients(const RunFacts& run) {
  const auto tensors = base::sum_of(
      run.figures.buckets, [](const auto& bucket) { return std::ssize(bucket.parameter_bytes); });
  return tensors * run.settings().gradient_accumulation_steps;
}

enum class Arrivals : std::uint8_t { kNotKnown, kAll, kAlwaysAsMany, kVarying };

Arrivals arrivals_of(const RunFacts& run) {
  const auto& gradients = run.sample.gradients();
  if (run.sample.steps() < 2 || gradients.empty()) return Arrivals::kNotKnown;
  const std::int64_t first = gradients.begin()->second;
  const bool is_constant =
      std::ranges::all_of(gradients, [&](const auto& entry) { return entry.second == first; });
  if (!is_constant) return Arrivals::kVarying;
  return first == all_gradients(run) ? Arrivals::kAll : Arrivals::kAlwaysAsMany;
}

std::string sampled_words(const RunFacts& run) {
  return "in all " + base::counted(run.sample.steps(), "step") + " that were looked at";
}

}  // namespace

std::optional<Advice> overlap(const RunFacts& run) {
  const double exposed = run.figures.summary.exposed_ns;
  if (!has_buckets(run) || run.settings().overlap_comm || exposed < run.noticeable_ns()) return {};
  Advice advice;
  advice.changes = {{"overlap_comm", "true"}};
  advice.title = "Reduce gradients while backward computes";
  advice.measured = time_words(exposed) + " exposed";
  advice.why =
      "No bucket is reduced before backward has ended (overlap_comm: false), so that nothing hides "
      "behind computation.";
  advice.evidence = {tail_evidence(run)};
  advice.at_stake_ns = exposed;
  return advice;
}

std::optional<Advice> bucket_views(const RunFacts& run) {
  if (!has_buckets(run) || run.settings().gradient_as_bucket_view) return {};
  Advice advice;
  advice.aim = Aim::kMemory;
  advice.changes = {{"gradient_as_bucket_view", "true"}};
  const auto next = run.with(advice.changes);
  if (!next) return {};
  const std::int64_t now = run.recorded_peak_bytes(), buckets = all_bucket_bytes(run);
  advice.saved_bytes = now - run.peak_bytes(*next).value_or(now);
  if (advice.saved_bytes <= 0) return {};
  advice.title = "Keep gradients inside the buckets";
  advice.measured = "saves " + base::bytes_text(advice.saved_bytes) + " per rank";
  advice.why = "Gradients lie beside the buckets (" + base::bytes_text(buckets) +
               ") and are copied into them in every step.";
  advice.costs = "Gradients are views then, which must not be detached in place.";
  advice.evidence = {run.in_typical_step("gradients and buckets at the peak")};
  return advice;
}

std::optional<Advice> compression(const RunFacts& run) {
  const double exposed = exposed_transfer_ns(run);
  if (run.ranks() < 2 || !reduces_in_32_bits(run) || exposed < run.noticeable_ns()) return {};
  if (run.settings().communication == job::Communication::kNone) return {};
  const bool has_units = job::strategy_traits(run.settings().sharding_strategy).has_units;
  Advice advice;
  advice.changes = {has_units ? KnobValue{"reduce_dtype", "bf16"}
                              : KnobValue{"communication_hook", "bf16_compress"}};
  if (!run.with(advice.changes)) return {};
  advice.title = "Compress gradients to bf16";
  advice.measured = time_words(exposed) + " exposed while data move";
  advice.why = computes_in_16_bits(run.settings())
                   ? "Gradients are reduced in fp32 while the model computes in 16 bits; half of "
                     "the bytes would do."
                   : "Gradients are reduced in fp32; in 16 bits half of the bytes would move.";
  advice.costs = "Gradients are rounded to 8 significant bits before they are averaged.";
  const std::int64_t batches = run.settings().gradient_accumulation_steps;
  if (has_units && batches > 1 && !run.settings().sync_each_batch) {
    advice.costs = "Gradients of " + base::grouped(batches) +
                   " micro-batches are added up and averaged with 8 significant bits.";
  }
  advice.evidence = {tail_evidence(run)};
  advice.at_stake_ns = exposed / 2;
  return advice;
}

std::optional<Advice> unused_parameters(const RunFacts& run) {
  if (!has_buckets(run) || !run.settings().find_unused_parameters) return {};
  if (arrivals_of(run) != Arrivals::kAll) return {};
  Advice advice;
  advice.changes = {{"find_unused_parameters", "false"}};
  advice.title = "Stop searching for unused parameters";
  advice.measured = "none of " + base::counted(all_gradients(run), "gradient") + " was missing";
  advice.why =
      "The graph is walked in every step, and buckets are not rebuilt in the order of "
      "gradients; every parameter had its gradient " +
      sampled_words(run) + ".";
  advice.costs = "A step in which a parameter is left out ends with an error then.";
  advice.evidence = {run.in_typical_step("every gradient arrives")};
  return advice;
}

std::optional<Advice> static_graph(const RunFacts& run) {
  if (!has_buckets(run) || !run.settings().find_unused_parameters) return {};
  if (arrivals_of(run) != Arrivals::kAlwaysAsMany) return {};
  Advice advice;
  advice.changes = {{"static_graph", "true"}, {"find_unused_parameters", "false"}};
  if (!run.with(advice.changes)) return {};
  const std::int64_t found = run.sample.gradients().begin()->second;
  advice.title = "Promise a static graph";
  advice.measured = base::counted(found, "gradient") + " of " + std::to_string(all_gradients(run)) +
                    " in every step";
  advice.why = "Unused parameters are searched for in every step, but as many gradients came " +
               sampled_words(run) + ": the first step can tell for all.";
  advice.costs = "The graph must then stay as it was in the first step.";
  advice.evidence = {run.in_typical_step("as many gradients as in other steps")};
  return advice;
}

std::optional<Advice> accumulation(const RunFacts& run) {
  const auto& settings = run.settings();
  const auto batches = static_cast<double>(settings.gradient_accumulation_steps);
  if (!settings.sync_each_batch || batches < 2 || run.ranks() < 2) return {};
  if (run.figures.summary.comm_ns <= 0) return {};
  Advice advice;
  advice.changes = {{"sync_each_batch", "false"}};
  const auto next = run.with(advice.changes);
  if (!next) return {};
  advice.title = "Reduce gradients once, after the last micro-batch";
  advice.measured = time_words(run.figures.summary.comm_ns) + " of communication in a step";
  advice.why = "Each of " + std::to_string(settings.gradient_accumulation_steps) +
               " micro-batches reduces all gradients; their sum is the same if only the last one "
               "does.";
  if (const auto after = run.peak_bytes(*next)) {
    advice.saved_bytes = run.recorded_peak_bytes() - *after;
    if (advice.saved_bytes < 0) {
      advice.costs =
          "Gradients are kept whole until then: " + memory_words(-advice.saved_bytes) + ".";
    }
  }
  advice.evidence = {run.in_typical_step("reductions in every micro-batch")};
  advice.at_stake_ns = run.figures.summary.exposed_ns * (batches - 1) / batches;
  return advice;
}

}  // namespace shardlens::trace::advice
