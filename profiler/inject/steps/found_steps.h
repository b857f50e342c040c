// Puts the steps that were found into the recorder. Several finders look for them at once, each on
// its own thread (by ranges, by kernels of one stream); the first that finds a step is believed
// from then on. Another one of the same kind takes over when the first has gone silent: a program
// that replays a CUDA graph does so in another stream than the one in which it warmed up. Any
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "profiler/inject/steps/step_sink.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::inject {

enum class StepSource : std::uint8_t { kNone, kRanges, kOptimizer, kPattern };

class FoundSteps {
 public:
  explicit FoundSteps(recorder::Recorder& recorder) : recorder_(recorder) {}

  // So many steps of another, and none of the one who is believed: the other is from then on.
  static constexpr int kStepsOfSilence = 2;

  // One who looks. Must not outlive the steps.
  class Finder final : public StepSink {
   public:
    Finder(FoundSteps& steps, StepSource source) : steps_(steps), source_(source) {}
    void begin_step(std::int64_t at_ns, std::optional<std::int64_t> number) override {
      steps_.begin_step(*this, at_ns, number);
    }
    void end_step(std::int64_t at_ns) override { steps_.end_step(*this, at_ns); }
    void begin_phase(trace::base::Phase phase, std::int64_t at_ns) override {
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
  // Who told the steps so far. Takes no lock.
  StepSource source() const { return source_; }
  // For people: "steps and phases: NVTX ranges".
  static const char* text_of(StepSource source);

 private:
  void begin_step(const Finder& finder, std::int64_t at_ns, std::optional<std::int64_t> number);
  void end_step(const Finder& finder, std::int64_t at_ns);
  void begin_phase(const Finder& finder, trace::base::Phase phase, std::int64_t at_ns);
  void end_phase(const Finder& finder, std::int64_t at_ns);
  bool is_believed(const Finder& finder) const;
  bool replaces_believed(const Finder& finder, std::int64_t at_ns);
  void close_phases(std::int64_t at_ns);
  void close_step(std::int64_t at_ns);

  recorder::Recorder& recorder_;
  std::mutex mutex_;
  const Finder* believed_ = nullptr;
  const Finder* other_ = nullptr;  // who found steps since the believed one began its last
  int steps_of_other_ = 0;
  int open_phases_ = 0;
  std::int64_t phase_start_ns_ = 0;  // of the latest
  std::atomic<StepSource> source_{StepSource::kNone};
  // Counted from the number that the program gives its first one, else from 0.
  std::int64_t next_step_ = 0;
  std::function<bool()> uses_gpu_;
  std::atomic<bool> has_activity_{false};
};

}  // namespace shardlens::profiler::inject
