#include "profiler/memory/allocation_recorder.h"

#include <utility>

namespace shardlens::profiler::memory {

AllocationRecorder::AllocationRecorder(recorder::Recorder& recorder, AllocationTracker& tracker,
                                       trace::job::RecordSchedule schedule, bool stops_keeping)
    : recorder_(recorder),
      tracker_(tracker),
      schedule_(schedule),
      stops_keeping_(stops_keeping),
      lane_(recorder.add_lane(trace::model::LaneKind::kMemory, "allocations")) {}

void AllocationRecorder::begin_step(std::int64_t index) {
  step_ = index;
  if (!schedule_.includes(index)) return;
  is_recording_ = tracker_.begin_record();
  if (!is_recording_) ++unrecorded_;
}

void AllocationRecorder::end_step() {
  if (std::exchange(is_recording_, false)) {
    const std::int64_t before = recorder::Recorder::now_ns();
    no_room_ += tracker_.end_record(recorder_.step_start_ns());
    recorder_.add_callback_cost(recorder::Recorder::now_ns() - before);
  }
  if (stops_keeping_ && step_ >= schedule_.last) tracker_.keep_addresses(false);
}

void AllocationRecorder::write() {
  recorder_.count_lost("allocation record full", no_room_.exchange(0));
  recorder_.count_lost("step's allocations not written in time", unrecorded_.exchange(0));
  for (auto events = tracker_.take_record(); !events.empty(); events = tracker_.take_record()) {
    recorder_.add_events(lane_, trace::model::EventKind::kAllocation, std::move(events));
  }
}

}  // namespace shardlens::profiler::memory
