#include "trace/advice/rules.h"
#include "trace/base/number_text.h"

namespace shardlens::trace::advice {

namespace {

struct LateHost {
  int rank = -1;
  const SampledKernels* kernels = nullptr;  // null: no GPU waits for its host
  double ns = 0;                            // of a step
};

LateHost latest_host(const RunFacts& run) {
  LateHost latest;
  for (const auto& [rank, kernels] : run.sample.kernels()) {
    if (kernels.steps == 0) continue;
    const double ns =
        static_cast<double>(kernels.host_late_ns) / static_cast<double>(kernels.steps);
    if (ns > latest.ns) latest = {rank, &kernels, ns};
  }
  if (latest.ns < run.noticeable_ns()) return {};
  return latest;
}

Advice waiting_for_host(const LateHost& late) {
  Advice advice;
  advice.evidence = {{"the longest wait for a launch", late.kernels->longest_step, late.rank,
                      late.kernels->longest_start_ns, late.kernels->longest_end_ns}};
  advice.gain_unknown = "No knob does this.";
  advice.at_stake_ns = late.ns;
  return advice;
}

bool are_mostly_short(const SampledKernels& kernels) {
  return kernels.launch_ns > 0 && 2 * kernels.short_count >= kernels.count;
}

constexpr std::int64_t kLessOften = 10;

}  // namespace

std::optional<Advice> host_bound(const RunFacts& run) {
  const LateHost late = latest_host(run);
  if (late.kernels == nullptr || are_mostly_short(*late.kernels)) return {};
  Advice advice = waiting_for_host(late);
  advice.title = "Let the host run ahead of the GPU";
  advice.measured = time_words(late.ns) + " of a step the GPU waits for a launch";
  advice.why = "On rank " + std::to_string(late.rank) +
               " the GPU is through with its kernels before the next one is launched: reads of "
               "values on the host, data or Python between them hold it up, and so does recording" +
               (model::has_settings(run.figures.info)
                    ? ": a run with record=none tells what a step takes without."
                    : ".");
  return advice;
}

std::optional<Advice> tiny_kernels(const RunFacts& run) {
  const LateHost late = latest_host(run);
  if (late.kernels == nullptr || !are_mostly_short(*late.kernels)) return {};
  Advice advice = waiting_for_host(late);
  const auto per_step = late.kernels->count / late.kernels->steps;
  advice.title = "Launch fewer and larger kernels";
  advice.measured = percent_words(static_cast<double>(late.kernels->short_count) /
                                  static_cast<double>(late.kernels->count)) +
                    " of kernels are shorter than a launch";
  advice.why = "A step launches " + base::counted(per_step, "kernel") + ", each launch takes " +
               time_words(static_cast<double>(late.kernels->launch_ns)) + ", and the GPU waits " +
               time_words(late.ns) +
               " of a step for them: fused operators, a larger batch or CUDA graphs need fewer.";
  return advice;
}

std::optional<Advice> loss_reading(const RunFacts& run) {
  if (run.settings().loss_every >= kLessOften) return {};
  double exposed = 0;
  for (const auto& row : run.figures.collectives) {
    if (row.tag == "loss") exposed += row.exposed_ns;
  }
  if (exposed < run.noticeable_ns()) return {};
  Advice advice;
  advice.changes = {{"loss_every", std::to_string(kLessOften)}};
  if (!run.with(advice.changes)) return {};
  advice.title = "Read the loss every " + std::to_string(kLessOften) + " steps";
  advice.measured = time_words(exposed) + " of a step exposed for the loss";
  advice.why =
      "Ranks share their loss after every " +
      (run.settings().loss_every == 1 ? std::string("step")
                                      : std::to_string(run.settings().loss_every) + " steps") +
      ", and wait for it.";
  advice.costs = "Between them loss, gradient norm and requests to stop are not known.";
  const auto is_loss = [](std::string_view tag) { return tag == "loss"; };
  advice.evidence = {run.longest_call(is_loss, "the loss is shared")};
  advice.at_stake_ns = exposed * (1 - static_cast<double>(run.settings().loss_every) /
                                          static_cast<double>(kLessOften));
  return advice;
}

}  // namespace shardlens::trace::advice
