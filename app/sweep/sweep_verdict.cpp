#include "app/sweep/sweep_verdict.h"

#include <algorithm>
#include <utility>

#include "trace/timeline/words/quantity.h"

namespace shardlens::app::sweep {
namespace {

using trace::analysis::RoundNoise;

constexpr double kFreedomIsFew = 3;  // degrees of freedom below which t is wide

// None: not known of every run.
std::optional<double> mean_of(const std::vector<const RunMeasure*>& runs,
                              std::optional<double> RunMeasure::*figure) {
  double sum = 0;
  for (const RunMeasure* run : runs) {
    if (!(run->*figure)) return std::nullopt;
    sum += *(run->*figure);
  }
  return sum / static_cast<double>(runs.size());
}

void add_figures(const SweepResults& results, std::size_t point, PointVerdict& verdict) {
  std::vector<const RunMeasure*> runs;
  for (const auto& [slot, result] : results) {
    if (slot.point != point || !result.measure) continue;
    verdict.runs.push_back(result.run);
    runs.push_back(&*result.measure);
  }
  if (runs.empty()) return;
  double steps = 0;
  for (const RunMeasure* run : runs) {
    steps += run->step_ns;
    verdict.peak_memory_bytes = std::max(verdict.peak_memory_bytes, run->peak_memory_bytes);
  }
  verdict.step_ns = steps / static_cast<double>(runs.size());
  verdict.exposed_ns = mean_of(runs, &RunMeasure::exposed_ns);
  verdict.tokens_per_s = mean_of(runs, &RunMeasure::tokens_per_s);
}

// `lacks_runs`: it was not run as often as was asked for.
Standing standing_of(const PointState& state, const PointVerdict& verdict, bool lacks_runs,
                     bool is_best) {
  if (!state.failure.empty()) return Standing::kFailed;
  if (!verdict.step_ns) return Standing::kNotRun;
  if (!state.stopped_early.empty() && lacks_runs) return Standing::kStoppedEarly;
  if (is_best) return Standing::kBest;
  if (!verdict.bounds) return Standing::kNotKnown;
  return verdict.bounds->low > 0 ? Standing::kSlower : Standing::kWithinNoise;
}

bool may_be_best(const PointVerdict& point) {
  return point.standing == Standing::kWithinNoise || point.standing == Standing::kNotKnown;
}

std::string cost_text(const PointVerdict& point, SweepGoal goal) {
  if (goal == SweepGoal::kTokenRate) {
    return trace::timeline::format_rate(*point.tokens_per_s, "tokens/s").text();
  }
  const auto unit = trace::timeline::duration_unit(*point.step_ns);
  std::string text = trace::timeline::format_duration_in(*point.step_ns, unit).value;
  if (point.half_width_ns) {
    text += " ± " + trace::timeline::format_duration_in(*point.half_width_ns, unit).value;
  }
  return text + " " + std::string(unit) + " per step";
}

// Of several points of one knob, its values alone: "25 and 100".
std::string others_text(const SweepPlan& plan, const std::vector<std::size_t>& others) {
  std::string text;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i > 0)
      text += i + 1 == others.size() ? " and " : plan.points.varied.size() > 1 ? "; " : ", ";
    text += plan.points.varied.size() == 1 ? trace::job::value_text(plan.points.settings[others[i]],
                                                                    *plan.points.varied.front())
                                           : point_text(plan.points, others[i]);
  }
  return text;
}

std::string why_best(const SweepPlan& plan, const SweepVerdict& verdict, double freedom) {
  const std::string best = point_text(plan.points, *verdict.best);
  const PointVerdict& figures = verdict.points[*verdict.best];
  const std::string cost = cost_text(figures, verdict.goal);
  std::vector<std::size_t> equals;
  std::size_t measured = 0;
  for (std::size_t i = 0; i < verdict.points.size(); ++i) {
    if (may_be_best(verdict.points[i])) equals.push_back(i);
    measured += verdict.points[i].step_ns ? 1 : 0;
  }
  if (measured == 1) return best + " is the only point with a result: " + cost;
  if (equals.empty())
    return best + " is fastest: " + cost + "; all other results are slower beyond noise";
  if (freedom < 1) {
    return best + " was fastest: " + cost +
           ". Too few runs are repeated to tell how far those of the same settings differ by "
           "chance: sweep with --repeat 2 or more";
  }
  const bool all = equals.size() + 1 == measured;
  std::string text =
      all ? "No point can be called fastest: the differences are within noise. Lowest was " + best +
                ": " + cost
          : best + " was fastest: " + cost + ", but " + others_text(plan, equals) +
                " cannot be told from it beyond noise";
  if (freedom < kFreedomIsFew) text += ". More repeats narrow it down (--repeat)";
  return text;
}

}  // namespace

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::kBest:
      return "best";
    case Standing::kWithinNoise:
      return "within_noise";
    case Standing::kNotKnown:
      return "not_known";
    case Standing::kSlower:
      return "slower";
    case Standing::kStoppedEarly:
      return "stopped_early";
    case Standing::kFailed:
      return "failed";
    case Standing::kNotRun:
      return "not_run";
  }
  return "";
}

SweepVerdict verdict_of(const SweepPlan& plan, const SweepResults& results) {
  SweepVerdict verdict;
  verdict.goal = goal_of(plan, results);
  // Also what earlier commands ran more often than this one asks for.
  const RoundNoise noise = noise_of(plan, results, kMostRepeats);
  const auto states = states_at(plan, results, plan.repeats);
  verdict.between_runs = noise.between_runs();
  verdict.best = best_of(noise, states, results);
  for (std::size_t i = 0; i < states.size(); ++i) {
    PointVerdict& point = verdict.points.emplace_back();
    add_figures(results, i, point);
    const auto half_width = noise.half_width(i);
    if (point.step_ns && half_width) point.half_width_ns = *point.step_ns * *half_width;
    if (verdict.best) {
      point.slower_by = noise.mean_difference(i, *verdict.best);
      point.bounds = noise.difference(i, *verdict.best, claims_of_the_end(plan));
    }
    const bool lacks_runs = point.runs.size() < static_cast<std::size_t>(plan.repeats);
    point.standing = standing_of(states[i], point, lacks_runs, i == verdict.best);
    if (point.standing == Standing::kFailed) point.reason = states[i].failure;
    if (point.standing == Standing::kStoppedEarly) point.reason = states[i].stopped_early;
  }
  if (verdict.best) {
    verdict.why = why_best(plan, verdict, noise.within_rounds().degrees_of_freedom);
  }
  return verdict;
}

}  // namespace shardlens::app::sweep
