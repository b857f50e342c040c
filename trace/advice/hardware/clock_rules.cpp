#include <algorithm>
#include <set>

#include "trace/advice/rules.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/number_text.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::advice {

namespace {

using analysis::StepFigures;

constexpr std::uint32_t kHeatLimits =
    model::kLimitSoftwareThermal | model::kLimitHardwareThermal | model::kLimitHardwareSlowdown;
constexpr std::uint32_t kPowerLimits = model::kLimitPowerCap | model::kLimitPowerBrake;
constexpr double kShareOfTime = 0.01;  // as of what is noticeable

struct HeldDown {
  std::int64_t steps = 0;
  std::set<int> ranks{};
  std::uint32_t limits = 0;
  double ns = 0, step_ns = 0;  // of it, of all measured steps, over ranks
  const StepFigures* worst = nullptr;
  const analysis::StepThrottling* worst_part = nullptr;
  double with_ns = 0, without_ns = 0;  // sums of times of steps
};

HeldDown held_down(const RunFacts& run, std::uint32_t limits) {
  HeldDown held;
  for (const StepFigures& step : run.figures.steps) {
    if (!analysis::is_measured(step)) continue;
    bool is_touched = false;
    for (const auto& part : step.throttling) {
      if ((part.limits & limits) == 0) continue;
      is_touched = true;
      held.ranks.insert(part.rank);
      held.limits |= part.limits & limits;
      held.ns += static_cast<double>(part.ns);
      if (held.worst_part == nullptr || part.ns > held.worst_part->ns) {
        held.worst = &step;
        held.worst_part = &part;
      }
    }
    double all = 0;
    for (const auto& rank : step.ranks) all += static_cast<double>(rank.step_ns);
    held.step_ns += all;
    held.steps += is_touched ? 1 : 0;
    (is_touched ? held.with_ns : held.without_ns) += all / step.rank_count();
  }
  return held;
}

// By how much steps were longer in which clocks were held down; 0: there are no others.
double longer_ns(const HeldDown& held, std::int64_t measured) {
  const std::int64_t others = measured - held.steps;
  if (held.steps == 0 || others == 0) return 0;
  return std::max(0.0, held.with_ns / static_cast<double>(held.steps) -
                           held.without_ns / static_cast<double>(others));
}

std::string rank_words(const std::set<int>& ranks) {
  if (ranks.size() > 4) return base::counted(ranks.size(), "rank");
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (const int rank : ranks) text += (rank == *ranks.begin() ? "" : ", ") + std::to_string(rank);
  return text;
}

std::optional<Advice> about_clocks(const RunFacts& run, std::uint32_t limits) {
  const HeldDown held = held_down(run, limits);
  if (held.worst == nullptr || held.ns < kShareOfTime * held.step_ns) return {};
  const std::int64_t measured = run.figures.summary.steps_measured;
  Advice advice;
  advice.measured =
      std::to_string(held.steps) + " of " + base::counted(measured, "step") + " throttled";
  advice.why =
      model::throttling_text(held.limits) + " held clocks down on " + rank_words(held.ranks) + ".";
  const double longer = longer_ns(held, measured);
  if (longer > 0)
    advice.why += " Those steps took " + time_words(longer) + " longer than the others.";
  const int rank = held.worst_part->rank;
  const auto& own = held.worst->ranks[static_cast<std::size_t>(rank)];
  advice.evidence = {{time_words(static_cast<double>(held.worst_part->ns)) + " throttled",
                      held.worst->index, rank, own.start_ns, own.start_ns + own.step_ns}};
  advice.gain_unknown = "No knob does this.";
  advice.at_stake_ns = longer * static_cast<double>(held.steps) / static_cast<double>(measured);
  return advice;
}

}  // namespace

std::optional<Advice> heat(const RunFacts& run) {
  auto advice = about_clocks(run, kHeatLimits);
  if (!advice) return {};
  advice->title = "Cool the GPUs better";
  return advice;
}

std::optional<Advice> power(const RunFacts& run) {
  auto advice = about_clocks(run, kPowerLimits);
  if (!advice) return {};
  advice->title = "Raise the GPUs' power limit";
  advice->costs = "More power and heat.";
  return advice;
}

}  // namespace shardlens::trace::advice
