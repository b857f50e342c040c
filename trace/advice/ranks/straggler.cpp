#include <algorithm>

#include "trace/advice/rules.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/median.h"

namespace shardlens::trace::advice {

namespace {

using analysis::StepFigures;
using base::Phase;

// By how much longer than `rank` the others waited in exposed time, on average; none: not known.
std::optional<double> waited_for(const StepFigures& step, std::size_t rank) {
  double others = 0;
  for (std::size_t i = 0; i < step.ranks.size(); ++i) {
    const auto waited = step.exposed_wait_of(i);
    if (!waited) return std::nullopt;
    if (i != rank) others += *waited;
  }
  return others / static_cast<double>(step.ranks.size() - 1) - *step.exposed_wait_of(rank);
}

constexpr std::size_t kManySteps = 8;

struct Lateness {
  std::size_t rank = 0;
  double mean_ns = 0;
  std::optional<double> half_ns;  // of the mean's 95 % interval; none: too few steps, or they drift
  struct Step {
    const StepFigures* step = nullptr;
    double ns = 0;
  };
  std::vector<Step> steps{};  // the worst first
};

std::optional<Lateness> lateness_of(const RunFacts& run, std::size_t rank) {
  Lateness late{.rank = rank, .half_ns = {}};
  std::vector<double> series;
  for (const StepFigures& step : run.figures.steps) {
    if (!analysis::is_measured(step) || step.ranks.size() < 2) continue;
    const auto waited = waited_for(step, rank);
    if (!waited) continue;
    series.push_back(*waited);
    late.steps.push_back({&step, *waited});
  }
  const auto mean = analysis::estimate_mean(series);
  if (!mean) return std::nullopt;
  late.mean_ns = mean->mean;
  std::ranges::stable_sort(late.steps, std::greater<>(), &Lateness::Step::ns);
  if (!mean->has_error()) return late;
  // One of several ranks is looked for: the chance that any is named in vain stays 5 %.
  const double missed = 0.05 / static_cast<double>(run.figures.ranks.size());
  late.half_ns = mean->half_width(missed);
  return late;
}

// Beyond chance; where how much the mean may be off is not known, late in each of many steps.
bool is_certain(const Lateness& late, double noticeable_ns) {
  if (late.half_ns) return late.mean_ns > *late.half_ns;
  return late.steps.size() >= kManySteps && late.steps.back().ns >= noticeable_ns;
}

// What a rank itself did in a phase: on a CPU that holds its waiting for collectives, while the
// host of a GPU goes on. For data nobody waits there.
std::optional<double> own_phase_ns(const RunFacts& run, std::size_t rank, Phase phase) {
  const auto place = static_cast<std::size_t>(phase);
  const bool holds_waiting = !run.is_gpu() && phase != Phase::kData;
  double sum = 0;
  int count = 0;
  for (const StepFigures& step : run.figures.steps) {
    if (!analysis::is_measured(step) || rank >= step.ranks.size()) continue;
    const auto& own = step.ranks[rank];
    if (own.step_ns == 0 || (holds_waiting && !own.has_detail)) continue;
    sum += static_cast<double>(own.phase_ns[place]);
    if (holds_waiting) sum -= static_cast<double>(own.exposed_phase_ns[place]);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

struct LatePhase {
  Phase phase = Phase::kOther;
  double own_ns = 0, others_ns = 0;

  double more_ns() const { return own_ns - others_ns; }
};

// In which it takes most longer than the median of the others.
LatePhase late_phase(const RunFacts& run, std::size_t rank) {
  LatePhase most;
  for (const Phase phase : {Phase::kData, Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    std::vector<double> others;
    for (std::size_t i = 0; i < run.figures.ranks.size(); ++i) {
      const auto ns = i == rank ? std::nullopt : own_phase_ns(run, i, phase);
      if (ns) others.push_back(*ns);
    }
    const auto own = own_phase_ns(run, rank, phase);
    if (!own || others.empty()) continue;
    const LatePhase found{phase, *own, base::upper_median(std::move(others))};
    if (found.more_ns() > most.more_ns()) most = found;
  }
  return most;
}

std::string phase_reason(const LatePhase& late) {
  if (late.more_ns() <= 0) return "None of its own phases takes longer than the others'.";
  return "Its " + std::string(base::to_string(late.phase)) + " takes " + time_words(late.own_ns) +
         ", the others' " + time_words(late.others_ns) + ".";
}

constexpr std::size_t kShownSteps = 3;

}  // namespace

std::optional<Advice> straggler(const RunFacts& run) {
  if (run.figures.ranks.size() < 2) return {};
  std::optional<Lateness> latest;
  for (std::size_t rank = 0; rank < run.figures.ranks.size(); ++rank) {
    auto late = lateness_of(run, rank);
    if (late && (!latest || late->mean_ns > latest->mean_ns)) latest = std::move(late);
  }
  if (!latest || latest->mean_ns < run.noticeable_ns()) return {};
  if (!is_certain(*latest, run.noticeable_ns())) return {};
  const int rank = static_cast<int>(latest->rank);
  const LatePhase phase = late_phase(run, latest->rank);
  Advice advice;
  advice.title = "Find what makes rank " + std::to_string(rank) + " late";
  if (phase.more_ns() > 0) advice.title += " in " + std::string(base::to_string(phase.phase));
  advice.measured = "costs " + time_words(latest->mean_ns) + " on average";
  advice.why = phase_reason(phase) + " Whoever arrives first waits in the next reduction.";
  for (const auto& late : latest->steps) {
    if (advice.evidence.size() == kShownSteps) break;
    const auto& own = late.step->ranks[latest->rank];
    advice.evidence.push_back({time_words(late.ns) + " late", late.step->index, rank, own.start_ns,
                               own.start_ns + own.step_ns});
  }
  advice.gain_unknown = "No knob does this.";
  advice.at_stake_ns = latest->mean_ns;
  return advice;
}

std::optional<Advice> late_data(const RunFacts& run) {
  std::vector<double> waits;
  for (std::size_t rank = 0; rank < run.figures.ranks.size(); ++rank) {
    if (const auto ns = own_phase_ns(run, rank, Phase::kData)) waits.push_back(*ns);
  }
  const bool is_known =
      run.figures.summary.phase_ns[static_cast<std::size_t>(Phase::kData)].has_value();
  if (waits.empty() || !is_known) return {};
  // One late rank of several is a straggler; all together: the lower of two middle ones.
  std::ranges::sort(waits);
  const double typical = waits[(waits.size() - 1) / 2];
  if (typical < run.noticeable_ns()) return {};
  Evidence worst;
  std::int64_t longest = 0;
  for (const StepFigures& step : run.figures.steps) {
    if (!analysis::is_measured(step)) continue;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      const std::int64_t ns = step.ranks[rank].phase_ns[static_cast<std::size_t>(Phase::kData)];
      if (ns <= longest) continue;
      longest = ns;
      worst = {time_words(static_cast<double>(ns)) + " for data", step.index,
               static_cast<int>(rank)};
    }
  }
  Advice advice;
  advice.title = "Have the next batch ready sooner";
  advice.measured = time_words(typical) + " of a step wait for data";
  advice.why = "Ranks take " + percent_words(typical / run.step_ns()) +
               " of a step to get their batch, in which nothing is computed: read and tokenize "
               "ahead, from a faster disk, or in more threads.";
  advice.evidence = {worst};
  advice.gain_unknown = "No knob does this.";
  advice.at_stake_ns = typical;
  return advice;
}

}  // namespace shardlens::trace::advice
