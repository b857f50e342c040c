#include "app/session/sweep/shown_sweep.h"

#include <cstddef>
#include <string>

#include "app/search/search_words.h"
#include "app/sweep/sweep_verdict.h"

namespace shardlens::app::session {
namespace {

ui::state::SweepPoint shown_point(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::PointVerdict& verdict, std::size_t index) {
  ui::state::SweepPoint point;
  point.settings = plan.points.settings[index];
  for (const auto* knob : plan.points.varied) {
    point.values.push_back(trace::job::value_text(point.settings, *knob));
  }
  for (const auto& [slot, result] : results) {
    if (slot.point != index || !result.measure) continue;
    point.runs.push_back({result.run, result.measure->step_ns});
  }
  point.standing = verdict.standing;
  point.reason = verdict.reason;
  point.step_ns = verdict.step_ns;
  point.half_width_ns = verdict.half_width_ns;
  point.exposed_ns = verdict.exposed_ns;
  point.tokens_per_s = verdict.tokens_per_s;
  point.peak_tensor_bytes = verdict.peak_tensor_bytes;
  point.is_on_front = verdict.is_on_front;
  point.failed_once = verdict.failed_once;
  point.slower_by = verdict.slower_by;
  return point;
}

std::string ended_text(const std::string& ended) {
  const bool is_for_time = ended == to_string(search::Ending::kNoTime);
  return search::ending_text(ended) +
         (is_for_time ? " Search… with the same settings and more time goes on." : "");
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
  shown.by_tokens = verdict.goal == sweep::SweepGoal::kTokenRate;
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

void show_search(const search::Standing& standing, ui::state::ShownSweep& shown) {
  const auto& [job, beliefs, outcome] = standing;
  shown.why =
      outcome || shown.runs_done > 0 ? search::verdict_text(*job.plan, job.goal, outcome) : "";
  shown.best = outcome ? std::optional(outcome->best) : std::nullopt;
  for (std::size_t i = 0; i < shown.points.size(); ++i) {
    auto& point = shown.points[i];
    if (point.reason.empty()) point.reason = search::why_not_text(beliefs[i], job.goal);
    const bool is_best = shown.best == i;
    // The sweep's own standings are of step times.
    const bool is_told = job.goal == search::Goal::kStepTime && !is_best &&
                         point.standing != ui::state::SweepStanding::kBest;
    if (beliefs[i].runs == 0 || point.standing == ui::state::SweepStanding::kFailed || is_told) {
      continue;
    }
    point.standing =
        is_best ? ui::state::SweepStanding::kBest : ui::state::SweepStanding::kNotKnown;
    point.slower_by.reset();
  }
}

}  // namespace shardlens::app::session
