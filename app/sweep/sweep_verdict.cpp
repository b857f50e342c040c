#include "app/sweep/sweep_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "trace/analysis/run/comparison.h"
#include "trace/base/text.h"
#include "trace/base/words/quantity.h"
#include "trace/timeline/words/interval_text.h"

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

std::optional<double> geometric_mean_of(const std::vector<const RunMeasure*>& runs,
                                        const std::function<double(const RunMeasure&)>& figure) {
  double sum = 0;
  for (const RunMeasure* run : runs) {
    if (!(figure(*run) > 0)) return std::nullopt;
    sum += std::log(figure(*run));
  }
  return std::exp(sum / static_cast<double>(runs.size()));
}

// `level`: of its cost, the drift of rounds taken out.
void add_costs(const std::vector<const RunMeasure*>& runs, Goal goal, double level,
               PointVerdict& verdict) {
  const auto cost = geometric_mean_of(
      runs, [goal](const RunMeasure& run) { return cost_of(run, goal).value_or(0); });
  const double drift = level / *cost;
  verdict.step_ns = geometric_mean_of(runs, [](const RunMeasure& run) { return run.step_ns; });
  *verdict.step_ns *= drift;
  verdict.tokens_per_s =
      geometric_mean_of(runs, [](const RunMeasure& run) { return run.tokens_per_s.value_or(0); });
  if (verdict.tokens_per_s) *verdict.tokens_per_s /= drift;
}

void add_figures(const SweepResults& results, Goal goal, const RoundNoise& noise, std::size_t point,
                 PointVerdict& verdict) {
  std::vector<const RunMeasure*> runs;
  for (const auto& [slot, result] : results) {
    if (slot.point != point || !result.measure) continue;
    verdict.runs.push_back(result.run);
    runs.push_back(&*result.measure);
  }
  if (runs.empty()) return;
  for (const RunMeasure* run : runs) {
    verdict.peak_memory_bytes = std::max(verdict.peak_memory_bytes, run->peak_memory_bytes);
    verdict.peak_tensor_bytes = std::max(verdict.peak_tensor_bytes, run->peak_tensor_bytes);
  }
  add_costs(runs, goal, *noise.level(point), verdict);
  verdict.exposed_ns = mean_of(runs, &RunMeasure::exposed_ns);
}

void tell_failures(const SweepPlan& plan, const SweepResults& results, std::size_t point,
                   PointVerdict& verdict) {
  const SlotResult* failed = nullptr;
  for (const auto& [slot, result] : results) {
    if (slot.point != point) continue;
    if (failed == nullptr && !result.failure.empty()) failed = &result;
    if (result.measure && !result.failed_before.empty()) verdict.failed_once = result.failed_before;
  }
  // A search does so only when it is asked for again.
  if (verdict.standing != Standing::kFailed || failed == nullptr || plan.search) return;
  verdict.is_to_be_retried = failed->is_to_be_retried();
  verdict.reason += verdict.is_to_be_retried ? " (it is run once more in the end)"
                                             : " (and so it did when it was run again)";
}

// Worth a choice between time and memory are those that none beats: by needing no more memory and
// being faster beyond noise, or by needing less and having the lower level. So the point of the
// lowest level is always one of them, and of those that need as much memory all that noise does not
// tell from the fastest. Memory is the same unless it matters.
void find_front(const SweepPlan& plan, const RoundNoise& noise, std::vector<PointVerdict>& points) {
  const auto width = noise.width_of_one_round(claims_of_the_end(plan));
  const auto beats = [&](std::size_t winner, std::size_t loser) {
    const double bytes = *points[winner].peak_tensor_bytes;
    const double others = *points[loser].peak_tensor_bytes;
    const bool is_same = trace::analysis::is_same_memory(bytes, others, std::max(bytes, others));
    if (!is_same && bytes > others) return false;
    if (!is_same && *noise.level(winner) < *noise.level(loser)) return true;
    return width && noise.is_beyond(loser, winner, *width);
  };
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool has_figures = points[i].step_ns && points[i].peak_tensor_bytes;
    if (has_figures && points[i].standing != Standing::kFailed) known.push_back(i);
  }
  for (const std::size_t i : known) {
    points[i].is_on_front =
        std::ranges::none_of(known, [&](std::size_t other) { return beats(other, i); });
  }
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

std::string cost_text(const PointVerdict& point, Goal goal) {
  if (goal == Goal::kTokenRate) {
    return trace::base::format_rate(*point.tokens_per_s, "tokens/s").text();
  }
  return trace::timeline::mean_duration_text(*point.step_ns, point.half_width_ns) + " per step";
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

// What each point but the best comes to beside it.
struct Others {
  std::vector<std::size_t> equals, slower, failed, not_run;
};

Others others_beside_best(const std::vector<PointVerdict>& points) {
  const auto those = [&](std::initializer_list<Standing> standings) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_one = std::ranges::find(standings, points[i].standing) != standings.end();
      if (is_one) places.push_back(i);
    }
    return places;
  };
  return {.equals = those({Standing::kWithinNoise, Standing::kNotKnown}),
          .slower = those({Standing::kSlower, Standing::kStoppedEarly}),
          .failed = those({Standing::kFailed}),
          .not_run = those({Standing::kNotRun})};
}

std::string why_best(const SweepPlan& plan, const SweepVerdict& verdict, const Others& others,
                     double freedom) {
  const std::string best = point_text(plan.points, *verdict.best);
  const PointVerdict& figures = verdict.points[*verdict.best];
  const std::string cost = cost_text(figures, verdict.goal);
  if (others.equals.empty() && others.slower.empty()) {
    return best +
           (others.failed.empty() ? " is the only point with a result: "
                                  : " is the only point that did not fail: ") +
           cost;
  }
  if (others.equals.empty()) {
    const bool is_one = others.slower.size() == 1;
    return best + " is fastest: " + cost + "; " +
           (is_one ? others_text(plan, others.slower) + " is" : "all others are") +
           " slower beyond noise";
  }
  if (freedom < 1) {
    const bool repeats = plan.repeats > 1;
    return best + (repeats ? " is fastest so far: " : " was fastest: ") + cost + ". Too few runs " +
           (repeats ? "have been" : "are") +
           " repeated to tell how far those of the same settings differ by chance" +
           (repeats ? "" : ": run each point twice or more");
  }
  std::string text = best + " was fastest: " + cost + ", but " + others_text(plan, others.equals) +
                     " cannot be told from it beyond noise";
  if (others.slower.empty()) {
    text = "No point can be called fastest: the differences are within noise. ";
    text +=
        (verdict.goal == Goal::kTokenRate ? "Highest was " : "Lowest was ") + best + ": " + cost;
  }
  if (freedom < kFreedomIsFew) text += ". More repeats narrow it down";
  return text;
}

// What the verdict does not rest on.
std::string not_judged_text(const SweepPlan& plan, const SweepVerdict& verdict,
                            const Others& others) {
  std::string text;
  if (!others.failed.empty()) {
    const bool is_one = others.failed.size() == 1;
    const bool is_pending = std::ranges::any_of(
        others.failed, [&](std::size_t i) { return verdict.points[i].is_to_be_retried; });
    text = ". Not judged: " + others_text(plan, others.failed) + ", which failed";
    if (is_pending)
      text += is_one ? " and is run once more in the end"
                     : "; what failed once is run again in the end";
  }
  if (!others.not_run.empty()) {
    text += ". " + std::to_string(others.not_run.size()) +
            (others.not_run.size() == 1 ? " point is" : " points are") + " not measured yet";
  }
  return text;
}

}  // namespace

std::string_view to_string(Standing standing) {
  constexpr std::array<std::string_view, 7> kNames{
      "best", "within_noise", "not_known", "slower", "stopped_early", "failed", "not_run"};
  return trace::base::enum_name<Standing::kNotRun>(kNames, standing);
}

SweepVerdict verdict_of(const SweepPlan& plan, const SweepResults& results) {
  SweepVerdict verdict;
  verdict.goal = goal_of(plan, results);
  // Also what earlier commands ran more often than this one asks for.
  const RoundNoise noise = noise_of(plan, results, verdict.goal, kMostRepeats);
  const auto states = states_now(plan, results);
  verdict.between_runs = noise.between_runs();
  verdict.best = best_of(plan, noise, states, results);
  for (std::size_t i = 0; i < states.size(); ++i) {
    PointVerdict& point = verdict.points.emplace_back();
    add_figures(results, verdict.goal, noise, i, point);
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
    tell_failures(plan, results, i, point);
  }
  find_front(plan, noise, verdict.points);
  if (verdict.best) {
    const Others others = others_beside_best(verdict.points);
    verdict.why = why_best(plan, verdict, others, noise.within_rounds().degrees_of_freedom) +
                  not_judged_text(plan, verdict, others);
  }
  return verdict;
}

}  // namespace shardlens::app::sweep
