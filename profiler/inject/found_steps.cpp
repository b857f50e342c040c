#include "profiler/inject/found_steps.h"

#include <limits>
#include <utility>

namespace shardlens::profiler {
namespace {

// Nobody tells them.
StepResult unknown_result(bool has_activity) {
  StepResult result;
  result.has_activity = has_activity;
  result.loss = result.gradient_norm = result.learning_rate =
      std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace

StepSource FoundSteps::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

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

void FoundSteps::begin_step(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (believed_ == nullptr) {
    believed_ = &finder;
    source_ = finder.source();
  }
  if (believed_ == &finder) recorder_.begin_step(next_step_++, at_ns);
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

void FoundSteps::begin_phase(const Finder& finder, trace::Phase phase, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (is_believed(finder)) recorder_.begin_phase(phase, at_ns);
}

void FoundSteps::end_phase(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (is_believed(finder)) recorder_.end_phase(at_ns);
}

}  // namespace shardlens::profiler
