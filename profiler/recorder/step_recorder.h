// What a recorder is told by the training thread, or the one that finds out about steps. Never
// blocks, never allocates; times never go back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/queue/records.h"
#include "trace/base/wall_clock.h"
#include "trace/model/events.h"

namespace shardlens::profiler::recorder {

struct RecorderState;

class StepRecorder {
 public:
  // Calls `follow` where detail ends or begins again with a step, at once if there is none now, so
  // that a source costs nothing without; nullptr ends that.
  void on_detail_change(std::function<void(bool is_wanted)> follow);
  void begin_step(std::int64_t index, std::int64_t at_ns = trace::base::wall_clock_ns());
  void end_step(const queue::StepResult& result, std::int64_t at_ns = trace::base::wall_clock_ns());
  void begin_phase(trace::base::Phase phase, std::int64_t at_ns = trace::base::wall_clock_ns());
  void end_phase(std::int64_t at_ns = trace::base::wall_clock_ns());
  // With late_steps: whether steps and phases are told while they go on, as by ranges, so that what
  // the host does now belongs to the present ones. Any thread.
  void tell_in_time(bool is_in_time);
  std::int64_t step_start_ns() const;
  std::int64_t step() const;         // -1 outside of steps; any thread
  trace::base::Phase phase() const;  // the innermost; kOther outside of phases; any thread
  void set_bucket_plan(int plan, std::vector<trace::model::Bucket> buckets);
  void bucket_ready(int bucket);
  void set_units(std::vector<trace::model::Unit> units,
                 std::vector<trace::model::UnitParameter> parameters);
  void unit_ready(int unit);
  // After a step; rank and time are filled in.
  void add_evaluation(trace::model::Evaluation row);
  void progress();  // the training thread moved on; begin/end of steps and phases do this too

 protected:
  explicit StepRecorder(RecorderState& state) : state_(state) {}
  ~StepRecorder() = default;

 private:
  RecorderState& state_;
};

class PhaseScope {
 public:
  PhaseScope(StepRecorder& recorder, trace::base::Phase phase) : recorder_(recorder) {
    recorder_.begin_phase(phase);
  }
  ~PhaseScope() { recorder_.end_phase(); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  StepRecorder& recorder_;
};

}  // namespace shardlens::profiler::recorder
