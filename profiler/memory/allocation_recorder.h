// Writes the allocations of the steps that a schedule names. begin_step() and end_step() belong to
// the training thread and never allocate; write() to one other thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/recorder/recorder.h"
#include "trace/job/settings/schedule.h"

namespace shardlens::profiler::memory {

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

}  // namespace shardlens::profiler::memory
