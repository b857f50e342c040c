// What is behind a Recorder, and its thread, which empties the queues every 50 ms, or when somebody
// waits for room in them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "profiler/queue/thread_queues.h"
#include "profiler/recorder/batch_builder.h"
#include "profiler/recorder/clock_watch.h"
#include "profiler/recorder/core_wait.h"
#include "profiler/recorder/detail_windows.h"
#include "profiler/recorder/phase_stack.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/step_times.h"
#include "profiler/recorder/string_interner.h"
#include "profiler/recorder/unqueued_rows.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::profiler::recorder {

struct RecorderState {
  RecorderState(RecorderOptions recorder_options,
                std::unique_ptr<trace::store::TraceWriter> trace_writer);

  // ---- shared by all threads
  const RecorderOptions options;
  const int rank;
  StringInterner strings;
  UnqueuedRows unqueued;
  queue::QueueRegistry queues;
  std::atomic<bool> detail{false};  // the schedule wants it and nothing forbids it
  std::atomic<bool> over_limit{false};
  std::atomic<bool> stopped{false};
  std::atomic<std::int64_t> step{-1};
  std::atomic<std::int64_t> last_step{-1};
  std::atomic<trace::base::Phase> phase{trace::base::Phase::kOther};
  std::atomic<bool> tells_present{false};  // step and phase are those of now
  std::atomic<std::int64_t> progress_ns{0};
  std::atomic<std::int64_t> callback_ns{0};  // told with what core_wait adds
  CoreWait core_wait;
  std::atomic<std::uint64_t> next_collective{1};
  std::atomic<std::int64_t> added_events{0};  // beside those of the queues
  std::atomic<std::int64_t> steps_without_room{0};
  void wait_for_room();

  // ---- the training thread's
  int phases_lane = 0;
  std::array<trace::model::StringId, trace::base::kPhaseCount> phase_names{};
  PhaseStack open_phases;
  std::int64_t step_start_ns = 0;
  bool step_detail = false;
  DetailWindows detail_windows;  // any thread reads
  StepTimes step_times;          // as well; only with late_steps
  std::function<void(bool)> follow_detail;
  bool followed_detail = true;  // what it was told last

  bool has_detail_at(std::int64_t time_ns) const;  // any thread
  void update_windows(std::int64_t now_ns);        // after `step` has changed
  void update_detail();  // after `step` or what forbids detail has changed
  void tell_follower();  // after a step has begun or ended
  void follow_sources(std::function<std::string()> sources);  // any thread
  bool push_row(const queue::RowRecord& row) { return queues.of_this_thread().rows.push(row); }

  // ---- the recorder's thread
  void run(const std::stop_token& stop);
  void record_once();  // empties the queues into one batch for the writer
  trace::base::Result<void> stop(bool has_all);

 private:
  // A finished collective, since when it waits for the end of the step that it may not be in.
  struct Unplaced {
    trace::model::Collective row;
    std::int64_t since_ns = 0;
  };
  bool schedule_wants_detail() const;
  void set_steps(std::vector<trace::model::Collective>& rows, std::int64_t now_ns);
  void take_account(const BatchBuilder::Drained& drained, trace::model::Batch& batch);
  void note_failure();
  void check_writer();
  void check_clock(std::int64_t now_ns);
  void ask_sources(std::int64_t now_ns);

  std::unique_ptr<trace::store::TraceWriter> writer_;
  BatchBuilder builder_;
  std::vector<Unplaced> unplaced_;
  std::int64_t events_ = 0;
  bool is_ending_ = false;
  bool has_all_ = false;  // set before the thread is asked to stop
  ClockWatch clock_watch_;
  ClockInterval clock_interval_{1'000'000'000}, sources_interval_{1'000'000'000};
  std::mutex sources_mutex_;
  std::function<std::string()> sources_;  // guarded by sources_mutex_
  std::string told_sources_;
  bool failed_ = false;
  mutable std::mutex failure_mutex_;
  std::string failure_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
  bool asked_to_drain_ = false;  // guarded by wait_mutex_
  std::condition_variable drained_;
  bool is_stopping_ = false;
  trace::base::Result<void> stop_result_;

 public:
  std::string failure() const;
  std::int64_t lost() const;
  trace::model::UnwrittenRecords unwritten() const;

  // Last: it must end before anything that it uses.
  std::jthread thread;
};

}  // namespace shardlens::profiler::recorder
