#include "app/session/sweep/shown_sweep.h"

#include <cstddef>
#include <string>

#include "app/search/search_words.h"
#include "app/sweep/sweep_verdict.h"

namespace shardlens::app::session {
namespace {

ui::state::SweepPoint shown_point(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::PointVerdict& verdict, std::size_t index) {
  ui::state::SweepPoint point{verdict};
  point.settings = plan.points.settings[index];
  for (const auto* knob : plan.points.varied) {
    point.values.push_back(trace::job::value_text(point.settings, *knob));
  }
  for (const auto& [slot, result] : results) {
    if (slot.point != index || !result.measure) continue;
    point.runs.push_back({result.run, result.measure->step_ns});
  }
  return point;
}

std::string ended_text(const std::string& ended) {
  const bool is_for_time = ended == to_string(search::Ending::kNoTime);
  return search::ending_text(ended) +
         (is_for_time ? " Search… with the same settings and more time goes on." : "");
}

ui::state::PointCost searched_cost(search::Goal goal, const sweep::SweepResults& results,
                                   const search::Belief& belief, std::size_t point) {
  ui::state::PointCost cost;
  if (belief.runs > 0) cost.measured = belief.cost;
  cost.half_width = belief.half_width;
  if (belief.predicted) {
    cost.predicted = belief.predicted->cost;
    if (belief.predicted->is_sure()) {
      cost.low = belief.predicted->cost - belief.predicted->half_width;
      cost.high = belief.predicted->cost + belief.predicted->half_width;
    }
  }
  for (const auto& [slot, result] : results) {
    const auto one = result.measure ? search::cost_of(*result.measure, goal) : std::nullopt;
    if (slot.point == point && one) cost.runs.push_back(*one);
  }
  return cost;
}

ui::state::SweepStanding standing_in(const search::Belief& belief, bool is_best,
                                     const std::optional<bool>& is_behind) {
  using ui::state::SweepStanding;
  if (belief.has_failed) return SweepStanding::kFailed;
  if (belief.runs == 0) return SweepStanding::kNotRun;
  if (is_best) return SweepStanding::kBest;
  if (!is_behind) return SweepStanding::kNotKnown;
  return *is_behind ? SweepStanding::kSlower : SweepStanding::kWithinNoise;
}

void show_means(search::Goal goal, ui::state::SweepPoint& point) {
  const auto& cost = *point.searched;
  point.step_ns.reset();
  point.half_width_ns.reset();
  if (!cost.measured) return;
  double sum = 0;
  for (const auto& run : point.runs) sum += run.step_ns;
  point.step_ns = sum / static_cast<double>(point.runs.size());
  if (goal == search::Goal::kStepTime) point.half_width_ns = cost.half_width;
  if (goal == search::Goal::kTokenRate) point.tokens_per_s = 1e9 / *cost.measured;
}

}  // namespace

ui::state::ShownSweep shown_sweep(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::SweepPredictions& predictions) {
  const auto verdict = sweep::verdict_of(plan, results);
  const auto left = sweep::work_left(plan, results);
  ui::state::ShownSweep shown;
  shown.name = plan.name;
  shown.varied = plan.points.varied;
  shown.repeats = plan.repeats;
  shown.by_tokens = verdict.goal == sweep::Goal::kTokenRate;
  shown.best = verdict.best;
  shown.why = verdict.why;
  shown.runs_done = sweep::runs_made(results);
  shown.runs_left = static_cast<std::size_t>(left.runs);
  shown.seconds_left = left.seconds;
  if (plan.search) {
    shown.search = {std::string(to_string(plan.search->goal)), plan.search->budget_seconds,
                    ended_text(plan.search->ended)};
    shown.runs_left = 0;
    shown.seconds_left.reset();
  }
  shown.phase =
      shown.is_complete() ? ui::state::SweepPhase::kDone : ui::state::SweepPhase::kUnfinished;
  shown.predicted_from = predictions.from;
  for (std::size_t i = 0; i < verdict.points.size(); ++i) {
    auto& point = shown.points.emplace_back(shown_point(plan, results, verdict.points[i], i));
    if (i < predictions.points.size()) point.prediction = predictions.points[i];
  }
  return shown;
}

void show_search(const sweep::SweepPlan& plan, const search::Standing& standing,
                 const sweep::SweepResults& results, ui::state::ShownSweep& shown) {
  const auto& [beliefs, outcome] = standing;
  const search::Goal goal = plan.search->goal;
  shown.why = outcome || shown.runs_done > 0 ? search::verdict_text(plan, results, outcome) : "";
  shown.best = outcome ? std::optional(outcome->chosen()) : std::nullopt;
  shown.by_tokens = goal == search::Goal::kTokenRate;
  shown.best_first = search::best_first(beliefs);
  // The best that is shown may be the start, which is kept while another has the lower mean.
  const auto behind = shown.best ? search::behind(plan, results, *shown.best)
                                 : std::vector<std::optional<bool>>(beliefs.size());
  for (std::size_t i = 0; i < shown.points.size(); ++i) {
    auto& point = shown.points[i];
    point.searched = searched_cost(goal, results, beliefs[i], i);
    show_means(goal, point);
    point.standing = standing_in(beliefs[i], shown.best == i, behind[i]);
    if (point.standing != ui::state::SweepStanding::kFailed) {
      point.reason = search::why_not_text(beliefs[i], goal);
    }
    point.slower_by.reset();
    if (shown.best && beliefs[i].runs > 0) {
      point.slower_by = *beliefs[i].cost / *beliefs[*shown.best].cost - 1;
    }
  }
}

}  // namespace shardlens::app::session
