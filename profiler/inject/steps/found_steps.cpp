#include "profiler/inject/steps/found_steps.h"

#include <algorithm>
#include <chrono>
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

bool is_guess(StepSource source) {
  return source == StepSource::kPattern || source == StepSource::kPasses;
}

bool is_surer(StepSource source, StepSource than) {
  return source > than && (than == StepSource::kNone || is_guess(than));
}

// Told by ranges, on the host and at the time.
bool is_in_time(StepSource source) {
  return source == StepSource::kRanges || source == StepSource::kPasses;
}

const char* text_of_source(StepSource source) {
  switch (source) {
    case StepSource::kRanges:
      return "steps and phases: NVTX ranges";
    case StepSource::kOptimizer:
      return "steps and phases: the names of kernels (a step ends with its optimizer's)";
    case StepSource::kPasses:
      return "steps and phases: NVTX ranges, none of an optimizer (each forward after a backward "
             "begins a step)";
    case StepSource::kPattern:
      return "steps: how kernels repeat; phases: not known";
    case StepSource::kNone:
      break;
  }
  return "steps: none were found";
}

}  // namespace

std::string FoundSteps::text() const {
  const StepSource source = source_;
  if (source == StepSource::kNone && has_held_) return "steps: none that are sure yet";
  std::string text = text_of_source(source);
  if (const std::int64_t sure = first_sure_step_; sure > 0)
    text += "; steps before " + std::to_string(sure) +
            ": guessed from what repeats, they may be parts of steps";
  return text;
}

bool FoundSteps::is_believed(const Finder& finder) const {
  return believed_ == &finder ||
         // Phases may come before the first step that is sure.
         (finder.source() == StepSource::kRanges &&
          (believed_ == nullptr || source_ == StepSource::kPasses));
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

bool FoundSteps::holds_back(StepSource source) const {
  return is_guess(source) && is_surer(source, source_);
}

void FoundSteps::begin_step(const Finder& finder, std::int64_t at_ns,
                            std::optional<std::int64_t> number) {
  const std::lock_guard lock(mutex_);
  const StepSource source = finder.source();
  if (!holds_back(source)) return tell_begin(finder, at_ns, number);
  auto& held = held_[source];
  held.push_back({&finder, at_ns, number, std::nullopt, recorder_.wanted_detail_at(at_ns)});
  has_held_ = true;
  if (at_ns - held.front().start_ns >= kHeldBackNs) tell_held(source);
}

// As they would have been told at their times.
void FoundSteps::tell_held(StepSource source) {
  const std::vector<HeldStep> held = std::exchange(held_[source], {});
  for (const HeldStep& step : held) {
    recorder_.wait_for_room();  // a minute may have more of them than a queue holds
    tell_begin(*step.finder, step.start_ns, step.number);
    if (step.end_ns) tell_end(*step.finder, *step.end_ns, step.has_detail);
  }
}

void FoundSteps::finish() {
  const std::unique_lock lock(mutex_, std::chrono::milliseconds(500));
  if (!lock.owns_lock()) return;
  for (const StepSource source : {StepSource::kPasses, StepSource::kPattern}) {
    if (holds_back(source)) tell_held(source);
  }
  has_held_ = false;
}

void FoundSteps::believe_source(StepSource source, std::int64_t at_ns,
                                std::optional<std::int64_t> number) {
  if (believed_ == nullptr) {
    next_step_ = number.value_or(0);
  } else {
    first_sure_step_ = next_step_;
  }
  source_ = source;
  std::erase_if(held_, [&](const auto& held) { return !is_surer(held.first, source); });
  // Those of ranges that are not believed: nobody will be heard who ends them.
  if (!is_in_time(source)) close_phases(at_ns);
}

void FoundSteps::tell_begin(const Finder& finder, std::int64_t at_ns,
                            std::optional<std::int64_t> number) {
  if (is_surer(finder.source(), source_)) {
    believe_source(finder.source(), at_ns, number);
    believed_ = &finder;
  } else if (believed_ != &finder) {
    if (!replaces_believed(finder, at_ns)) return;
    // It began a step when its last one ended, and has not been heard of since.
    if (recorder_.step() >= 0) close_step(at_ns);
    believed_ = &finder;
  }
  // Kernels tell of what was before the steps that ranges guessed: a later one is the first then.
  // The guessed one that is open is never told.
  if (began_ != nullptr && began_->source() != source_ && at_ns <= recorder_.step_start_ns())
    return;
  began_ = &finder;
  other_ = nullptr;
  recorder_.tell_in_time(is_in_time(source_));
  recorder_.begin_step(next_step_++, at_ns);
}

void FoundSteps::watch_activity(std::function<bool()> uses_gpu) {
  const std::lock_guard lock(mutex_);
  uses_gpu_ = std::move(uses_gpu);
}

void FoundSteps::end_step(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!has_activity_ && uses_gpu_ && uses_gpu_()) has_activity_ = true;
  if (!holds_back(finder.source())) return tell_end(finder, at_ns, has_activity_);
  auto& held = held_[finder.source()];
  const auto own = std::find_if(held.rbegin(), held.rend(),
                                [&](const HeldStep& step) { return step.finder == &finder; });
  if (own == held.rend()) return;
  own->end_ns = at_ns;
  own->has_detail &= has_activity_ && recorder_.wanted_detail_at(at_ns);
}

void FoundSteps::tell_end(const Finder& finder, std::int64_t at_ns, bool has_detail) {
  if (believed_ == &finder && began_ == &finder)
    recorder_.end_step(unknown_result(has_detail), at_ns);
}

void FoundSteps::begin_phase(const Finder& finder, trace::base::Phase phase, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_believed(finder)) return;
  ++open_phases_;
  phase_start_ns_ = at_ns;
  recorder_.tell_in_time(is_in_time(finder.source()));
  recorder_.begin_phase(phase, at_ns);
}

void FoundSteps::end_phase(const Finder& finder, std::int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_believed(finder)) return;
  open_phases_ = std::max(0, open_phases_ - 1);
  recorder_.end_phase(at_ns);
}

}  // namespace shardlens::profiler::inject
