// Samples memory at a fixed rate on a thread of its own, which also writes recorded allocations;
// and, when asked, the peak of each step and what there is where a phase begins.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/recorder/recorder.h"
#include "trace/job/settings/grammars.h"
#include "trace/model/events.h"

namespace shardlens::profiler::memory {

// Writes the allocations of the steps that a schedule names. begin_step() and end_step() belong to
// the training thread and never allocate; write() to one other thread.
class AllocationRecorder {
 public:
  // `tracker` keeps addresses already; once no further step is named it need not for the record's
  // sake: `stops_keeping` says that nobody else needs them.
  AllocationRecorder(recorder::Recorder& recorder, AllocationTracker& tracker,
                     trace::job::RecordSchedule schedule, bool stops_keeping);

  void begin_step(std::int64_t index);  // before Recorder::begin_step
  void end_step();                      // before Recorder::end_step
  void write();                         // what has been recorded since

 private:
  recorder::Recorder& recorder_;
  AllocationTracker& tracker_;
  const trace::job::RecordSchedule schedule_;
  const bool stops_keeping_;
  const int lane_;
  bool is_recording_ = false;
  std::int64_t step_ = -1;
  std::atomic<std::int64_t> unrecorded_{0}, no_room_{0};
};

struct MemorySource {
  std::function<trace::model::MemorySample()> current;  // the sampler's thread; may ask the system
  std::function<trace::model::MemorySample()> take_peak;  // since the last call; any thread
  // What is counted anyway: a few atomics, no lock, no call of the system. Any thread; null: none.
  std::function<trace::model::MemorySample()> counters;
};

class MemorySampler {
 public:
  static constexpr std::chrono::milliseconds kInterval{50};

  MemorySampler(recorder::Recorder& recorder, MemorySource source,
                std::chrono::milliseconds interval = kInterval,
                std::unique_ptr<AllocationRecorder> allocations = nullptr);

  // The training thread, before Recorder::begin_step: what was highest since the last step, in
  // set-up or evaluation, is not the next step's. It is recorded, without a step, if the rank was
  // never higher.
  void begin_step(std::int64_t index);
  // The training thread, before Recorder::end_step: records the peak since begin_step() as this
  // step's.
  void record_step_peak();
  // The training thread, where a phase begins: what the one before it leaves behind, if detail is
  // recorded.
  void sample_phase_border();

 private:
  void run(const std::stop_token& stop);

  recorder::Recorder& recorder_;
  const MemorySource source_;
  const std::chrono::milliseconds interval_;
  const std::unique_ptr<AllocationRecorder> allocations_;  // null: none are recorded
  std::int64_t highest_bytes_ = 0;  // of the recorded peaks; the training thread's
  std::mutex mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace shardlens::profiler::memory
