#include "profiler/inject/steps/found_steps.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardlens::profiler::inject {
namespace {

// Loss, gradient norm and learning rate of a step that was found are not known.
queue::StepResult unknown_result(bool has_activity) {
  queue::StepResult result;
  result.has_activity = has_activity;
  result.loss = result.gradient_norm = result.learning_rate =
      std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace

const char* FoundSteps::text_of(StepSource source) {
  switch (source) {
    case StepSource::kRanges:
      return "steps and phases: NVTX ranges";
    case StepSource::kOptimizer:
      return "steps and phases: the names of kernels (a step ends with its optimizer's)";
    case StepSource::kPattern:
      return "steps: how kernels repeat; phases: not known";
    case StepSource::kNone:
      break;
  }
  return "steps: none were found";
}

bool FoundSteps::is_believed(const Finder& finder) const {
  return believed_ == &finder ||
         // Phases may come before the first step that is sure.
         (believed_ == nullptr && finder.source() == StepSource::kRanges);
}

bool FoundSteps::replaces_believed(const Finder& finder, std::int64_t at_ns) {
  if (finder.source() != source_ || at_ns <= recorder_.step_start_ns()) return false;
  if (std::exchange(other_, &finder) != &finder) steps_of_other_ = 0;
  return ++steps_of_other_ >= kStepsOfSilence;
}

// A kernel's time may lie before the host's, at which ranges have opened theirs.
void FoundSteps::close_phases(std::int64_t at_ns) {
  at_ns = std::max(at_ns, phase_start_ns_);
  for (; open_phases_ > 0; --open_phases_) recorder_.end_phase(at_ns);
}

void FoundSteps::close_step(std::int64_t at_ns) {
  close_phases(at_ns);
  recorder_.end_step(unknown_result(has_activity_), at_ns);
}

void FoundSteps::begin_step(const Finder& finder, std::int64_t at_ns,
                            std::optional<std::int64_t> number) {
  const std::lock_guard lock(mutex_);
  if (believed_ == nullptr) {
    next_step_ = number.value_or(0);
    source_ = finder.source();
    // Those of ranges that are not believed: nobody will be heard who ends them.
    if (source_ != StepSource::kRanges) close_phases(at_ns);
  } else if (believed_ != &finder) {
    if (!replaces_believed(finder, at_ns)) return;
    // It began a step when its last one ended, and has not been heard of since.
    if (recorder_.step() >= 0) close_step(at_ns);
  }
  believed_ = &finder;
  other_ = nullptr;
  recorder_.tell_in_time(source_ == StepSource::kRanges);
  recorder_.begin_step(next_step_++, at_ns);
}

void FoundSteps::watch_activity(std::function<bool()> uses_gpu) {
  const std::lock_guard lock(mutex_);
  uses_gpu_ = std::move(uses_gpu);
}

void FoundSteps::end_step(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!has_activity_ && uses_gpu_ && uses_gpu_()) has_activity_ = true;
  if (believed_ == &finder) recorder_.end_step(unknown_result(has_activity_), at_ns);
}

void FoundSteps::begin_phase(const Finder& finder, trace::base::Phase phase, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_believed(finder)) return;
  ++open_phases_;
  phase_start_ns_ = at_ns;
  recorder_.tell_in_time(finder.source() == StepSource::kRanges);
  recorder_.begin_phase(phase, at_ns);
}

void FoundSteps::end_phase(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_believed(finder)) return;
  open_phases_ = std::max(0, open_phases_ - 1);
  recorder_.end_phase(at_ns);
}

}  // namespace shardlens::profiler::inject
