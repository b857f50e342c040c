#include "profiler/recorder/step_recorder.h"

#include <utility>

#include "profiler/recorder/recorder_state.h"

namespace shardlens::profiler::recorder {

std::int64_t StepRecorder::step() const { return state_.step.load(std::memory_order_relaxed); }
trace::base::Phase StepRecorder::phase() const {
  return state_.phase.load(std::memory_order_relaxed);
}

std::int64_t StepRecorder::step_start_ns() const { return state_.step_start_ns; }

void StepRecorder::on_detail_change(std::function<void(bool)> follow) {
  state_.follow_detail = std::move(follow);
  state_.followed_detail = true;
  state_.tell_follower();
}

void StepRecorder::begin_step(std::int64_t index, std::int64_t at_ns) {
  // Steps that are found from outside may be told by any thread.
  if (!state_.options.late_steps) state_.core_wait.follow();
  state_.step_start_ns = at_ns;
  state_.step = index;
  state_.last_step = index;
  state_.update_detail();
  state_.update_windows(state_.step_start_ns);
  state_.tell_follower();
  state_.step_detail =
      state_.detail.load(std::memory_order_relaxed) && state_.options.schedule.includes(index);
  state_.progress_ns = trace::base::wall_clock_ns();
  if (state_.options.late_steps) state_.step_times.begin(index, at_ns);
}

void StepRecorder::end_step(const queue::StepResult& result, std::int64_t at_ns) {
  trace::model::Step row;
  row.rank = state_.rank;
  row.index = step();
  row.start_ns = state_.step_start_ns;
  row.end_ns = at_ns;
  row.loss = result.loss;
  row.gradient_norm = result.gradient_norm;
  row.learning_rate = result.learning_rate;
  row.tokens = result.tokens;
  row.samples = result.samples;
  row.model_flops = result.model_flops;
  row.full_detail =
      state_.step_detail && state_.detail.load(std::memory_order_relaxed) && result.has_activity;
  row.nonfinite = result.nonfinite;
  if (!state_.push_row(row)) ++state_.steps_without_room;
  state_.step = -1;
  state_.update_detail();
  state_.update_windows(row.end_ns);
  state_.tell_follower();
  state_.progress_ns = trace::base::wall_clock_ns();
  if (state_.options.late_steps) state_.step_times.end(at_ns);
}

void StepRecorder::begin_phase(trace::base::Phase phase, std::int64_t at_ns) {
  const auto name = state_.phase_names[static_cast<std::size_t>(phase)];
  state_.open_phases.push({phase, name, step(), at_ns});
  state_.phase = phase;
  state_.progress_ns = at_ns;
}

void StepRecorder::end_phase(std::int64_t at_ns) {
  const auto closed = state_.open_phases.pop();
  state_.phase = state_.open_phases.phase();
  state_.progress_ns = at_ns;
  if (!closed) return;
  trace::model::Span row;
  row.rank = state_.rank;
  row.lane = state_.phases_lane;
  row.step = closed->open.step;
  row.phase = closed->open.phase;
  row.depth = closed->depth;
  row.name = closed->open.name;
  row.start_ns = closed->open.start_ns;
  row.end_ns = at_ns;
  state_.push_row(row);
}

void StepRecorder::tell_in_time(bool is_in_time) { state_.tells_present = is_in_time; }

void StepRecorder::set_bucket_plan(int plan, std::vector<trace::model::Bucket> buckets) {
  for (trace::model::Bucket& bucket : buckets) bucket.plan = plan;
  state_.unqueued.add_buckets(std::move(buckets));
}

void StepRecorder::set_units(std::vector<trace::model::Unit> units,
                             std::vector<trace::model::UnitParameter> parameters) {
  state_.unqueued.add_units(std::move(units), std::move(parameters));
}

void StepRecorder::unit_ready(int unit) {
  state_.push_row(trace::model::UnitReady{state_.rank, step(), unit, trace::base::wall_clock_ns()});
}

void StepRecorder::add_evaluation(trace::model::Evaluation row) {
  row.rank = state_.rank;
  row.time_ns = trace::base::wall_clock_ns();
  state_.push_row(row);
}

void StepRecorder::bucket_ready(int bucket) {
  state_.push_row(
      trace::model::BucketReady{state_.rank, step(), bucket, trace::base::wall_clock_ns()});
}

void StepRecorder::progress() { state_.progress_ns = trace::base::wall_clock_ns(); }

}  // namespace shardlens::profiler::recorder
