#include "trace/advice/rules.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

namespace {

// The share of a step that takes as long with any batch: with a tenth, a batch twice as large
// trains 5 % more samples per second.
constexpr double kFixedShare = 0.1;
constexpr std::int64_t kMostTimes = 8;  // as large: what is learnt changes with the batch

// Exposed communication, idle time and the optimizer do not grow with the batch.
double fixed_ns(const RunFacts& run) {
  const auto& summary = run.figures.summary;
  return summary.exposed_ns + summary.idle_ns + summary.optimizer_compute_ns;
}

std::string batch_of(const RunFacts& run, std::int64_t times) {
  return std::to_string(times * run.settings().batch_per_rank);
}

std::int64_t times_that_fit(const RunFacts& run) {
  std::int64_t times = 1;
  while (times < kMostTimes) {
    const auto next = run.with({{"batch_per_rank", batch_of(run, 2 * times)}});
    if (!next || run.fits(*next) != true) break;
    times *= 2;
  }
  return times;
}

std::string use_words(const RunFacts& run) {
  return base::bytes_text(run.recorded_peak_bytes()) + " of " +
         base::bytes_text(run.usable_bytes());
}

}  // namespace

std::optional<Advice> larger_batch(const RunFacts& run) {
  const double fixed = fixed_ns(run);
  if (!run.figures.summary.has_detail || run.usable_bytes() <= 0) return {};
  if (fixed < kFixedShare * run.figures.summary.detailed_step_ns) return {};
  const std::int64_t times = times_that_fit(run);
  if (times < 2) return {};
  const std::string batch = batch_of(run, times);
  Advice advice;
  advice.aim = Aim::kThroughput;
  advice.changes = {{"batch_per_rank", batch}};
  advice.title = "Raise the batch per rank to " + batch;
  advice.measured = use_words(run) + " used";
  advice.why = "Exposed communication, idle time and the optimizer take " + time_words(fixed) +
               " of a step whatever its batch; a larger one fits.";
  advice.costs = "The effective batch is " + std::to_string(times) +
                 " times as large, with which the learning rate and what is learnt per sample "
                 "change.";
  advice.evidence = {run.in_typical_step("time that does not grow with the batch")};
  if (const auto peak = run.peak_bytes(*run.with(advice.changes))) {
    advice.saved_bytes = run.recorded_peak_bytes() - *peak;
  }
  return advice;
}

std::optional<Advice> recomputation(const RunFacts& run) {
  const std::int64_t every = run.settings().activation_checkpointing;
  if (every <= 0) return {};
  Advice advice;
  advice.changes = {{"activation_checkpointing", "0"}};
  const auto next = run.with(advice.changes);
  const auto peak = next ? run.peak_bytes(*next) : std::nullopt;
  if (!peak || run.fits(*next) != true) return {};
  const auto forward =
      run.figures.summary.phase_ns[static_cast<std::size_t>(base::Phase::kForward)];
  advice.title = "Stop recomputing activations";
  advice.measured = use_words(run) + " used";
  advice.why =
      (every == 1 ? "Every block is" : "Every " + std::to_string(every) + ". block is") +
      std::string(" computed a second time in backward, and keeping all activations fits: ") +
      base::bytes_text(*peak) + ".";
  advice.saved_bytes = run.recorded_peak_bytes() - *peak;
  if (advice.saved_bytes < 0) advice.costs = memory_words(-advice.saved_bytes) + ".";
  advice.evidence = {run.in_typical_step("backward with recomputation")};
  advice.at_stake_ns = forward.value_or(0) / static_cast<double>(every);
  return advice;
}

}  // namespace shardlens::trace::advice
