#include "profiler/inject/steps/range_steps.h"

#include "profiler/inject/steps/range_names.h"

namespace shardlens::profiler::inject {

using trace::base::Phase;

void RangeSteps::opened(std::string_view name, int depth, std::int64_t at_ns) {
  if (const auto phase = phase_named(name)) {
    if (phase_depth_ == kNone) open_phase(*phase, depth, at_ns);
    look_for_update(*phase, name);
    return;
  }
  const bool guesses = told_to_ == &guesses_;
  if (!guesses && (mode_ == Mode::kPhaseRanges || step_is_open_)) return;
  if (!names_a_step(name)) return;
  // Surer than a guess, of which an open one is not told; but it may be an evaluation's or a log's.
  if (guesses && (watched_depth_ != kNone || !holds_backward_)) {
    if (watched_depth_ == kNone) watched_depth_ = depth;
    return;
  }
  mode_ = Mode::kStepRanges;
  step_is_open_ = true;
  step_depth_ = depth;
  told_to_ = &sink_;
  sink_.begin_step(at_ns, step_number(name));
}

void RangeSteps::open_phase(Phase phase, int depth, std::int64_t at_ns) {
  if (mode_ != Mode::kStepRanges && (phase == Phase::kData || phase == Phase::kForward))
    consider_boundary(at_ns);
  phase_depth_ = depth;
  phase_ = phase;
  updates_ = false;
  sink_.begin_phase(phase, at_ns);
}

void RangeSteps::look_for_update(Phase phase, std::string_view name) {
  const bool is_optimizers = phase == Phase::kOptimizer && phase_ == Phase::kOptimizer;
  if (is_optimizers && !may_leave_out_the_update(name)) updates_ = true;
}

void RangeSteps::consider_boundary(std::int64_t at_ns) {
  if (!saw_backward_) return;
  if (!has_optimizer_ && ++cycles_ < kCyclesWithoutOptimizer) {
    saw_backward_ = false;
    return;
  }
  if (has_optimizer_ && !saw_optimizer_) return;  // the next of several micro-batches
  if (step_is_open_) told_to_->end_step(at_ns);
  mode_ = Mode::kPhaseRanges;
  step_is_open_ = true;
  saw_backward_ = saw_optimizer_ = false;
  told_to_ = has_optimizer_ ? &sink_ : &guesses_;
  told_to_->begin_step(at_ns, std::nullopt);
}

void RangeSteps::closed(int depth, std::int64_t at_ns) {
  last_closed_ns_ = at_ns;
  if (depth == phase_depth_) {
    phase_depth_ = kNone;
    sink_.end_phase(at_ns);
    if (phase_ == Phase::kBackward) {
      saw_backward_ = true;
      holds_backward_ = holds_backward_ || watched_depth_ != kNone;
    }
    // Gradients are set to zero before forward, too.
    const bool is_update = phase_ == Phase::kOptimizer && updates_;
    if (is_update && saw_backward_) saw_optimizer_ = has_optimizer_ = true;
  }
  if (depth == watched_depth_) watched_depth_ = kNone;
  if (depth == step_depth_) {
    step_depth_ = kNone;
    step_is_open_ = false;
    sink_.end_step(at_ns);
  }
}

void RangeSteps::leave(std::int64_t at_ns) {
  if (phase_depth_ != kNone) sink_.end_phase(at_ns);
  phase_depth_ = kNone;
}

void RangeSteps::finish() {
  if (mode_ == Mode::kPhaseRanges && step_is_open_ && saw_backward_) {
    told_to_->end_step(last_closed_ns_);
  }
  told_to_ = nullptr;
  step_is_open_ = false;
  step_depth_ = phase_depth_ = kNone;
  mode_ = Mode::kPhaseRanges;
}

}  // namespace shardlens::profiler::inject
