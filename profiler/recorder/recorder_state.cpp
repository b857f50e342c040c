#include "profiler/recorder/recorder_state.h"

#include <pthread.h>

#include <cstdio>
#include <utility>

#include "trace/base/wall_clock.h"
#include "trace/model/untold.h"

namespace shardlens::profiler::recorder {
namespace {

constexpr std::chrono::milliseconds kDrainInterval{50};
constexpr std::int64_t kLongestUnplacedNs = 5'000'000'000;
// Half of what is taken for a hang, so that the rows are there when somebody asks.
constexpr std::int64_t kStandsStillNs = 5'000'000'000;

}  // namespace

RecorderState::RecorderState(RecorderOptions recorder_options,
                             std::unique_ptr<trace::store::TraceWriter> trace_writer)
    : options(std::move(recorder_options)),
      rank(options.rank_info.rank),
      strings(rank),
      unqueued(options.rank_info),
      queues(options.event_queue_capacity, options.row_queue_capacity),
      writer_(std::move(trace_writer)),
      builder_(rank, options.late_steps
                         ? [this](std::int64_t time_ns) { return has_detail_at(time_ns); }
                         : collective::CollectiveJoin::HasDetail()) {
  phases_lane = unqueued.add_lane(trace::model::LaneKind::kPhases, strings.intern("phases"));
  for (int i = 0; i < trace::base::kPhaseCount; ++i)
    phase_names[static_cast<std::size_t>(i)] =
        strings.intern(trace::base::to_string(static_cast<trace::base::Phase>(i)));
  tells_present = !options.late_steps;
  update_detail();
  update_windows(0);
}

bool RecorderState::has_detail_at(std::int64_t time_ns) const {
  return !over_limit && !stopped && detail_windows.contains(time_ns);
}

bool RecorderState::schedule_wants_detail() const {
  const auto& schedule = options.schedule;
  const std::int64_t index = step.load(std::memory_order_relaxed);
  // A step that is told late has begun before: what leads into it is recorded with the one before.
  if (options.late_steps && last_step >= 0 && schedule.includes(last_step + 1)) return true;
  if (index >= 0) return schedule.includes(index);
  // Outside of steps (set-up, evaluation) there is detail only if every step has it.
  return schedule.includes(0) && schedule.includes(1) &&
         schedule.last == trace::job::RecordSchedule{}.last;
}

void RecorderState::update_detail() {
  // Also where nothing can be written any more: what is lost is counted as it comes.
  detail = schedule_wants_detail() && !over_limit && !stopped;
}

void RecorderState::tell_follower() {
  if (!follow_detail || detail == followed_detail) return;
  followed_detail = detail;
  follow_detail(followed_detail);
}

void RecorderState::update_windows(std::int64_t now_ns) {
  if (schedule_wants_detail()) {
    detail_windows.open(now_ns);
  } else {
    detail_windows.close(now_ns);
  }
}

void RecorderState::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "recorder");
  while (!stop.stop_requested()) {
    std::unique_lock lock(wait_mutex_);
    wait_.wait_for(lock, stop, kDrainInterval, [this] { return asked_to_drain_; });
    asked_to_drain_ = false;
    lock.unlock();
    record_once();
    drained_.notify_all();
  }
  is_ending_ = true;
  record_once();
  // Once more: a collective that ended without a seen start waits for one further drain.
  builder_.stop_waiting();
  if (has_all_) strings.intern(trace::model::kClosedInOrder);
  record_once();
}

void RecorderState::wait_for_room() {
  const queue::ThreadQueues& own = queues.of_this_thread();
  const auto has_room = [&own] {
    return 2 * own.events.room() >= own.events.capacity() &&
           2 * own.rows.room() >= own.rows.capacity();
  };
  while (!has_room() && !thread.get_stop_token().stop_requested()) {
    std::unique_lock lock(wait_mutex_);
    asked_to_drain_ = true;
    wait_.notify_one();
    drained_.wait_for(lock, kDrainInterval);
  }
}

void RecorderState::record_once() {
  const std::int64_t now = trace::base::wall_clock_ns();
  auto drained = builder_.drain(queues.all(), now, now - progress_ns > kStandsStillNs);
  trace::model::Batch batch = std::move(drained.batch);
  if (options.late_steps) set_steps(batch.collectives, now);
  check_writer();
  check_clock(now);
  ask_sources(now);
  take_account(drained, batch);
  unqueued.take(batch);
  batch.strings = strings.take_new();
  const auto phase_now = tells_present ? phase.load() : trace::base::Phase::kOther;
  batch.heartbeat = trace::model::Heartbeat{rank, now, progress_ns, last_step, phase_now};
  writer_->submit(std::move(batch));
}

// Steps that are found in what ran are told to have ended once the next one goes on.
void RecorderState::set_steps(std::vector<trace::model::Collective>& rows, std::int64_t now_ns) {
  for (const trace::model::Collective& row : rows) unplaced_.push_back({row, now_ns});
  rows.clear();
  const std::int64_t known_until_ns =
      tells_present || is_ending_ ? INT64_MAX : step_times.latest_boundary_ns();
  std::erase_if(unplaced_, [&](const Unplaced& each) {
    if (each.row.start_ns >= known_until_ns && now_ns - each.since_ns < kLongestUnplacedNs)
      return false;
    rows.push_back(each.row);
    rows.back().step = step_times.at(each.row.start_ns);
    return true;
  });
}

void RecorderState::take_account(const BatchBuilder::Drained& drained, trace::model::Batch& batch) {
  events_ += drained.events;
  unqueued.add_lost("event queue full", drained.lost_events);
  unqueued.add_lost("row queue full", drained.lost_rows);
  unqueued.add_lost("collective incomplete", drained.incomplete);
  if (over_limit) unqueued.add_lost("size limit", drained.undetailed);
  trace::model::RecorderCost cost;
  cost.rank = rank;
  cost.writer_ns = trace::base::thread_cpu_ns() + writer_->cpu_ns();
  // What a program that was not written for us marks is recorded without measuring.
  const bool is_measured = callback_ns > 0 || !options.late_steps;
  const std::int64_t waited =
      core_wait.look(trace::base::wall_clock_ns(), cost.writer_ns, is_ending_);
  cost.callback_ns = is_measured ? callback_ns + waited : trace::model::kNotKnown;
  cost.events = events_ + added_events;
  batch.cost = cost;
}

void RecorderState::note_failure() {
  if (failed_) return;
  std::string reason = writer_->failure();
  if (reason.empty()) return;
  // The file can no longer say it; standard error is the rank's log.
  std::fprintf(stderr, "warning: recording of rank %d has ended, the run goes on: %s\n", rank,
               reason.c_str());
  const std::lock_guard lock(failure_mutex_);
  failure_ = std::move(reason);
  failed_ = true;
}

void RecorderState::check_writer() {
  note_failure();
  if (!over_limit && writer_->bytes_on_disk() >= options.size_limit_bytes) {
    over_limit = true;
    update_detail();
    unqueued.add_log({rank, trace::base::wall_clock_ns(), trace::model::LogLine::Level::kWarning,
                      "The recording has reached its size limit of " +
                          std::to_string(options.size_limit_bytes >> 20) +
                          " MiB: from here on only steps, phases and memory are recorded. Raise "
                          "record_limit_mb, or record fewer steps with `record`."});
  }
}

void RecorderState::check_clock(std::int64_t now_ns) {
  if (!clock_interval_.is_over(now_ns)) return;
  const auto moved_ns = clock_watch_.moved(ClockWatch::read());
  if (!moved_ns) return;
  unqueued.add_log({rank, now_ns, trace::model::LogLine::Level::kWarning,
                    "The system clock was set by " + std::to_string(*moved_ns / 1'000'000) +
                        " ms: times across this moment do not compare."});
}

void RecorderState::follow_sources(std::function<std::string()> sources) {
  const std::lock_guard lock(sources_mutex_);
  sources_ = std::move(sources);
}

void RecorderState::ask_sources(std::int64_t now_ns) {
  if (!sources_interval_.is_over(now_ns) && !is_ending_) return;
  const std::lock_guard lock(sources_mutex_);
  if (!sources_) return;
  std::string text = sources_();
  if (text == told_sources_) return;
  told_sources_ = std::move(text);
  unqueued.update_rank_info([this](trace::model::RankInfo& info) { info.sources = told_sources_; });
}

trace::base::Result<void> RecorderState::stop(bool has_all) {
  if (std::exchange(is_stopping_, true)) return stop_result_;
  has_all_ = has_all;
  thread.request_stop();
  if (thread.joinable()) thread.join();
  stopped = true;
  detail = false;
  stop_result_ = writer_->close();
  note_failure();  // of what was left to write
  return stop_result_;
}

std::string RecorderState::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

std::int64_t RecorderState::lost() const { return unqueued.lost() + writer_->lost(); }

trace::model::UnwrittenRecords RecorderState::unwritten() const {
  trace::model::UnwrittenRecords records = writer_->unwritten();
  records.steps += steps_without_room;
  return records;
}

}  // namespace shardlens::profiler::recorder
