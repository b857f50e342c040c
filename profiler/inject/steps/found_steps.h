// Puts the steps that were found into the recorder. Several finders look for them at once, each on
// its own thread (by ranges, by kernels of one stream); the first that finds a step is believed
// from then on. Another one of the same kind takes over when the first has gone silent: a program
// that replays a CUDA graph does so in another stream than the one in which it warmed up.
// What may be a part of a step, as a micro-batch, is a guess: it is held back until nothing surer
// has come for a minute, or until the end, and whoever is surer takes its place at any time. What
// was told until then stays as it is, and text() says so. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "profiler/inject/steps/step_sink.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::inject {

// From the least sure to the surest; the last two are equally so. kPasses: ranges, none of which is
// an optimizer's.
enum class StepSource : std::uint8_t { kNone, kPattern, kPasses, kOptimizer, kRanges };

class FoundSteps {
 public:
  explicit FoundSteps(recorder::Recorder& recorder) : recorder_(recorder) {}

  // After so many steps that another finder tells, with none from the one that is believed, the
  // other is believed.
  static constexpr int kStepsOfSilence = 2;
  // Longer than most steps take, so that an optimizer shows itself before a guess is believed.
  static constexpr std::int64_t kHeldBackNs = 60'000'000'000;

  // What one way of looking for steps tells them to. Must not outlive the steps.
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
  // Nothing more comes: tells the surest of what was held back, if nobody is surer. Also while the
  // process dies, by whose signal a thread within these functions may have been stopped: it is not
  // waited for long.
  void finish();
  // The finder that is believed so far. Takes no lock.
  StepSource source() const { return source_; }
  // For people: "steps and phases: NVTX ranges". Takes no lock.
  std::string text() const;

 private:
  struct HeldStep {
    const Finder* finder = nullptr;
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> number, end_ns;
    bool has_detail = false;  // at its time all was recorded
  };
  void begin_step(const Finder& finder, std::int64_t at_ns, std::optional<std::int64_t> number);
  void end_step(const Finder& finder, std::int64_t at_ns);
  bool holds_back(StepSource source) const;
  void tell_held(StepSource source);
  void tell_begin(const Finder& finder, std::int64_t at_ns, std::optional<std::int64_t> number);
  void tell_end(const Finder& finder, std::int64_t at_ns, bool has_detail);
  void believe_source(StepSource source, std::int64_t at_ns, std::optional<std::int64_t> number);
  void begin_phase(const Finder& finder, trace::base::Phase phase, std::int64_t at_ns);
  void end_phase(const Finder& finder, std::int64_t at_ns);
  bool is_believed(const Finder& finder) const;
  bool replaces_believed(const Finder& finder, std::int64_t at_ns);
  void close_phases(std::int64_t at_ns);
  void close_step(std::int64_t at_ns);

  recorder::Recorder& recorder_;
  std::timed_mutex mutex_;
  const Finder* believed_ = nullptr;
  const Finder* other_ = nullptr;  // who found steps since the believed one began its last
  int steps_of_other_ = 0;
  const Finder* began_ = nullptr;  // who began the step that is open
  std::map<StepSource, std::vector<HeldStep>> held_;
  std::atomic<bool> has_held_{false};
  std::atomic<std::int64_t> first_sure_step_{0};  // those before it were guessed; 0: none was
  int open_phases_ = 0;
  std::int64_t phase_start_ns_ = 0;  // of the latest
  std::atomic<StepSource> source_{StepSource::kNone};
  // Counted from the number that the program gives its first one, else from 0.
  std::int64_t next_step_ = 0;
  std::function<bool()> uses_gpu_;
  std::atomic<bool> has_activity_{false};
};

}  // namespace shardlens::profiler::inject
