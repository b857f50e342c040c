// Finds steps and phases in the NVTX ranges of the thread that trains. That thread only.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/inject/steps/step_sink.h"

namespace shardlens::profiler::inject {

// A range that names a step is one. Where there is none, a step begins with the first data or
// forward range after an optimizer range, and goes on to the next; without ranges for the
// optimizer, every forward after a backward begins one, once it has happened
// kCyclesWithoutOptimizer times: these are guesses, for they may be micro-batches, until a range
// names a step after one that held a backward. Phases are the outermost ranges that name one; the
// optimizer's is a range for it unless it may leave out the update and none that does not lies
// within.
class RangeSteps {
 public:
  static constexpr int kCyclesWithoutOptimizer = 8;

  // `guesses` takes the steps, and no phases, as long as there is no range of an optimizer.
  RangeSteps(StepSink& sink, StepSink& guesses) : sink_(sink), guesses_(guesses) {}

  // `depth` of a range: how many are open around it.
  void opened(std::string_view name, int depth, std::int64_t at_ns);
  void closed(int depth, std::int64_t at_ns);
  // Whether they tell steps: one has begun.
  bool has_found_steps() const { return mode_ != Mode::kUndecided; }
  // Whether they have shown what only training does, though no step yet.
  bool has_trained() const { return saw_backward_ || has_optimizer_ || cycles_ > 0; }
  // Before they do: another thread's or domain's ranges follow, and an open phase ends.
  void leave(std::int64_t at_ns);
  // Ends a step that only the next one would have ended. Nothing is told afterwards.
  void finish();

 private:
  enum class Mode : std::uint8_t { kUndecided, kStepRanges, kPhaseRanges };
  static constexpr int kNone = -1;

  void open_phase(trace::base::Phase phase, int depth, std::int64_t at_ns);
  void look_for_update(trace::base::Phase phase, std::string_view name);
  void consider_boundary(std::int64_t at_ns);

  StepSink& sink_;
  StepSink& guesses_;
  StepSink* told_to_ = nullptr;  // of the step that is open
  Mode mode_ = Mode::kUndecided;
  bool step_is_open_ = false;
  int step_depth_ = kNone;       // of the range that is the step
  int phase_depth_ = kNone;      // of the range that is the phase
  int watched_depth_ = kNone;    // of one that names a step, beside guesses
  bool holds_backward_ = false;  // did such a one
  trace::base::Phase phase_ = trace::base::Phase::kOther;
  bool updates_ = false;        // in the optimizer's that is open
  bool saw_backward_ = false;   // since the last boundary
  bool saw_optimizer_ = false;  // as well
  bool has_optimizer_ = false;  // ever
  int cycles_ = 0;
  std::int64_t last_closed_ns_ = 0;
};

}  // namespace shardlens::profiler::inject
