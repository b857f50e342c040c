#include "profiler/memory/memory_sampler.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <string>
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

MemorySampler::MemorySampler(recorder::Recorder& recorder, MemorySource source,
                             std::chrono::milliseconds interval,
                             std::unique_ptr<AllocationRecorder> allocations)
    : recorder_(recorder),
      source_(std::move(source)),
      interval_(interval),
      allocations_(std::move(allocations)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void MemorySampler::begin_step(std::int64_t index) {
  if (allocations_) allocations_->begin_step(index);
  trace::model::MemorySample peak = source_.take_peak();
  if (peak.allocated_bytes() <= highest_bytes_) return;
  highest_bytes_ = peak.allocated_bytes();
  peak.is_peak = true;
  recorder_.add_memory_sample(peak);
}

void MemorySampler::record_step_peak() {
  trace::model::MemorySample peak = source_.take_peak();
  if (allocations_) allocations_->end_step();
  peak.is_peak = true;
  highest_bytes_ = std::max(highest_bytes_, peak.allocated_bytes());
  recorder_.add_memory_sample(peak);
}

void MemorySampler::sample_phase_border() {
  if (source_.counters && recorder_.recording_detail())
    recorder_.add_memory_sample(source_.counters());
}

void MemorySampler::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "memory sampler");
  do {  // once whenever it is stopped: the shortest of programs has its sample
    if (allocations_) allocations_->write();
    try {
      // Asking the system takes time: what set-up or an evaluation held must not become the sample
      // of the step that begins meanwhile.
      const std::int64_t step = recorder_.step();
      const trace::model::MemorySample sample = source_.current();
      if (recorder_.step() == step) recorder_.add_memory_sample(sample);
    } catch (const std::exception& failure) {
      recorder_.log(trace::model::LogLine::Level::kWarning,
                    std::string("Memory is no longer sampled: ") + failure.what());
      break;
    }
    std::unique_lock lock(mutex_);
    wait_.wait_for(lock, stop, interval_, [] { return false; });
  } while (!stop.stop_requested());
  if (allocations_) allocations_->write();
}

}  // namespace shardlens::profiler::memory
