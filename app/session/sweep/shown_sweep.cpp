#include "app/session/sweep/shown_sweep.h"

#include <cstddef>
#include <string>
#include <utility>

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
  shown.phase = left.runs == 0 ? ui::state::SweepPhase::kDone : ui::state::SweepPhase::kUnfinished;
  shown.predicted_from = predictions.from;
  for (std::size_t i = 0; i < verdict.points.size(); ++i) {
    auto& point = shown.points.emplace_back(shown_point(plan, results, verdict.points[i], i));
    if (i < predictions.points.size()) point.prediction = predictions.points[i];
  }
  return shown;
}

}  // namespace shardlens::app::session
