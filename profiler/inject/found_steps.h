// Puts the steps that were found into the recorder. Several look for them at once, on their own
// threads; the first to find one is believed from then on. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "profiler/inject/step_sink.h"
#include "profiler/recorder.h"

namespace shardlens::profiler {

enum class StepSource : std::uint8_t { kNone, kRanges, kOptimizer, kPattern };

class FoundSteps {
 public:
  explicit FoundSteps(Recorder& recorder) : recorder_(recorder) {}

  // One who looks. Must not outlive the steps.
  class Finder final : public StepSink {
   public:
    Finder(FoundSteps& steps, StepSource source) : steps_(steps), source_(source) {}
    void begin_step(std::int64_t at_ns) override { steps_.begin_step(*this, at_ns); }
    void end_step(std::int64_t at_ns) override { steps_.end_step(*this, at_ns); }
    void begin_phase(trace::Phase phase, std::int64_t at_ns) override {
      steps_.begin_phase(*this, phase, at_ns);
    }
    void end_phase(std::int64_t at_ns) override { steps_.end_phase(*this, at_ns); }
    StepSource source() const { return source_; }

   private:
    FoundSteps& steps_;
    const StepSource source_;
  };

  // Kernels are recorded from now on, once the program `uses_gpu`: without them nobody knows what a
  // step consists of. It is asked at the end of each step until it does.
  void watch_activity(std::function<bool()> uses_gpu);
  // A kernel ran.
  void note_activity() { has_activity_ = true; }
  // Who told the steps so far.
  StepSource source() const;
  // For people: "steps and phases: NVTX ranges".
  static const char* text_of(StepSource source);

 private:
  void begin_step(const Finder& finder, std::int64_t at_ns);
  void end_step(const Finder& finder, std::int64_t at_ns);
  void begin_phase(const Finder& finder, trace::Phase phase, std::int64_t at_ns);
  void end_phase(const Finder& finder, std::int64_t at_ns);
  bool is_believed(const Finder& finder) const;

  Recorder& recorder_;
  mutable std::mutex mutex_;
  const Finder* believed_ = nullptr;
  StepSource source_ = StepSource::kNone;
  std::int64_t next_step_ = 0;
  std::function<bool()> uses_gpu_;
  std::atomic<bool> has_activity_{false};
};

}  // namespace shardlens::profiler
