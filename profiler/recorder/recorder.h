// Records what one rank does into its trace file. Knows neither LibTorch nor CUDA: sources feed it.
// The functions of the training thread never block and never allocate; losses are counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/queue/records.h"
#include "trace/base/result.h"
#include "trace/base/wall_clock.h"
#include "trace/job/settings/schedule.h"
#include "trace/model/events.h"
#include "trace/model/rank_outcome.h"

namespace shardlens::profiler::recorder {

struct RecorderOptions {
  std::filesystem::path file;
  trace::model::RankInfo rank_info;
  trace::job::RecordSchedule schedule;
  std::int64_t size_limit_bytes = INT64_MAX;
  // Steps are told after the fact, by what a GPU did: rows belong to the step of their time, not to
  // the one that was open when they were reported. The step before one with detail is recorded,
  // too, for what leads into it.
  bool late_steps = false;
  // Records per thread until the recorder's thread empties the queue, every 50 ms or when asked.
  std::size_t event_queue_capacity = 1 << 16;
  std::size_t row_queue_capacity = 1 << 12;
};

struct RecorderState;

class Recorder final {
 public:
  static trace::base::Result<std::unique_ptr<Recorder>> start(RecorderOptions options);
  ~Recorder();  // as stop()
  // Takes in what is queued, writes it, closes the file. Returns the first failure to write.
  // `has_all`: all sources have given what they held. The file then says so (kClosedInOrder).
  trace::base::Result<void> stop(bool has_all = false);
  // Why recording ended before the run (disk full, …); "" while all is well.
  std::string failure() const;
  std::int64_t lost() const;
  // Since failure(), and steps that found no room in their queue before.
  trace::model::UnwrittenRecords unwritten() const;

  // ---- the training thread, or the one that finds out about steps: never blocks, never allocates;
  // times never go back

  // Calls `follow` where detail ends or begins again with a step, at once if there is none now, so
  // that a source costs nothing without; nullptr ends that.
  void on_detail_change(std::function<void(bool is_wanted)> follow);
  void begin_step(std::int64_t index, std::int64_t at_ns = trace::base::wall_clock_ns());
  void end_step(const queue::StepResult& result, std::int64_t at_ns = trace::base::wall_clock_ns());
  void begin_phase(trace::base::Phase phase, std::int64_t at_ns = trace::base::wall_clock_ns());
  void end_phase(std::int64_t at_ns = trace::base::wall_clock_ns());
  // With late_steps: whether steps and phases are told while they go on, as by ranges, so that what
  // the host does now belongs to the present ones. Any thread.
  void tell_in_time(bool is_in_time);
  std::int64_t step_start_ns() const;
  std::int64_t step() const;         // -1 outside of steps; any thread
  trace::base::Phase phase() const;  // the innermost; kOther outside of phases; any thread
  void set_bucket_plan(int plan, std::vector<trace::model::Bucket> buckets);
  void bucket_ready(int bucket);
  void set_units(std::vector<trace::model::Unit> units,
                 std::vector<trace::model::UnitParameter> parameters);
  void unit_ready(int unit);
  // After a step; rank and time are filled in.
  void add_evaluation(trace::model::Evaluation row);
  void progress();  // the training thread moved on; begin/end of steps and phases do this too

  // ---- collectives, by the caller of enter and whichever thread sees start and end: never blocks,
  // never allocates

  // Returns a handle; the collective counts as pending until it has ended, in one of three ways.
  std::uint64_t enter_collective(const queue::CollectiveCall& call);
  // 1. Whoever runs it reports its true times.
  void start_collective(std::uint64_t handle, int lane, std::int64_t start_ns);
  void end_collective(std::uint64_t handle, std::int64_t end_ns);
  // 2. The GPU does: the kernel of a launch ran. One kernel may carry several collectives, and a
  // collective may need several kernels.
  void launch_collective(std::uint64_t handle, const queue::CollectiveLaunch& launch);
  void end_launch(std::uint64_t launch, int lane, std::int64_t start_ns, std::int64_t end_ns);
  // 3. The host saw that it was over. Later than the truth, so it counts only where no kernel comes
  // (CollectiveJoin::lacks_kernels).
  void observe_collective(std::uint64_t handle, int lane, std::int64_t start_ns,
                          std::int64_t end_ns);

  // ---- collectives that a CUDA graph captures instead: nothing is pending, and each replay is one
  // Returns a handle. The call's sequence counts what a kernel carries at most, from 0. Its process
  // group must have no others.
  std::uint64_t capture_collective(const queue::CollectiveCall& call);
  // Which launch carries it and how, together or one by one: what is 0 is not told. A later launch
  // takes the place of an earlier one.
  void launch_captured(std::uint64_t handle, const queue::CollectiveLaunch& launch);
  void end_replay(const queue::CollectiveReplay& replay);

  // ---- any thread
  static std::int64_t now_ns() { return trace::base::wall_clock_ns(); }
  trace::model::StringId intern(std::string_view text);  // may allocate: not in a hot path
  int add_lane(trace::model::LaneKind kind, std::string_view name);
  // The lane of the calling thread's operators: what others learn of the thread belongs there, too.
  void set_lane_of_this_thread(int lane);
  // `thread` as CUPTI tells it: the lower half of pthread_self(). None: no such lane. Locks.
  std::optional<int> lane_of_thread(std::uint32_t thread) const;
  bool recording_detail() const;  // false outside the schedule and beyond the size limit
  // Whether the schedule wanted detail at a moment of the past, for events that are reported late;
  // false beyond the size limit.
  bool wanted_detail_at(std::int64_t time_ns) const;
  void log(trace::model::LogLine::Level level, std::string_view text);
  void count_lost(std::string_view reason, std::int64_t count);
  void add_process_group(int id, std::string_view name, std::string_view backend,
                         std::vector<int> ranks);
  // Changes what RecorderOptions::rank_info said, once more is known.
  void update_rank_info(const std::function<void(trace::model::RankInfo&)>& change);
  // `sources`: what RankInfo::sources says; asked by the recorder's thread, once a second and when
  // it ends. nullptr: not any more.
  void follow_sources(std::function<std::string()> sources);
  // Rank, time (if 0) and step (if negative) are filled in.
  void add_memory_sample(const trace::model::MemorySample& sample);
  void add_counter(trace::model::StringId name, trace::model::StringId unit, std::int64_t time_ns,
                   double value);
  // Bulk events of the calling thread's queue.
  void add_event(int lane, trace::model::EventKind kind, const trace::model::Event& event);
  // For a thread that may wait, and has more to tell than its queues hold: returns once half of
  // them is free. On the job's threads only where much was held back, once a run.
  void wait_for_room();
  // Many at once, ordered by start; locks: not in a hot path.
  void add_events(int lane, trace::model::EventKind kind, std::vector<trace::model::Event> events);
  // Time that a source spent in callbacks on the job's threads; see callback_cost.h.
  void add_callback_cost(std::int64_t ns);

 private:
  explicit Recorder(std::unique_ptr<RecorderState> state);
  std::unique_ptr<RecorderState> state_;
};

class PhaseScope {
 public:
  PhaseScope(Recorder& recorder, trace::base::Phase phase) : recorder_(recorder) {
    recorder_.begin_phase(phase);
  }
  ~PhaseScope() { recorder_.end_phase(); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Recorder& recorder_;
};

}  // namespace shardlens::profiler::recorder
