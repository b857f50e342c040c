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

#include "trace/model/events.h"
#include "trace/model/rank_outcome.h"
#include "trace/model/result.h"
#include "trace/model/schedule.h"

namespace shardlens::profiler {

struct RecorderOptions {
  std::filesystem::path file;
  trace::RankInfo rank_info;
  trace::RecordSchedule schedule;
  std::int64_t size_limit_bytes = INT64_MAX;
  // Steps are told after the fact, by what a GPU did: rows belong to the step of their time, not to
  // the one that was open when they were reported.
  bool late_steps = false;
  // Records per thread until the recorder's thread empties the queue, every 50 ms or when asked.
  std::size_t event_queue_capacity = 1 << 16;
  std::size_t row_queue_capacity = 1 << 12;
};

// What a rank knows of a collective when the host asks for it.
struct CollectiveCall {
  int process_group = 0;
  std::int64_t sequence = -1;
  trace::CollectiveFunction function = trace::CollectiveFunction::kOther;
  trace::CollectiveFunction executed = trace::CollectiveFunction::kOther;
  trace::TagKind tag_kind = trace::TagKind::kNone;
  int tag_index = -1;
  trace::StringId tag_name = 0;
  trace::StringId data_type = 0;
  std::int64_t bytes = 0;
};

// What the backend made of a collective once it launched it.
struct CollectiveLaunch {
  static constexpr std::uint64_t kNotFound = UINT64_MAX;  // of what a graph captures: as 0

  std::uint64_t launch = 0;  // given to Recorder::end_launch, too; 0: cannot be found again
  trace::StringId algorithm = 0;
  trace::StringId protocol = 0;
  int channels = 0;
};

// A kernel that a CUDA graph has replayed.
struct CollectiveReplay {
  std::uint64_t launch = 0;  // that was captured
  // The same on all ranks, or -1: of the launch among those of its communicator, and of the replay
  // among those of the launch.
  std::int64_t place = -1;
  std::int64_t number = -1;
  std::int64_t called_ns = 0;
  int lane = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
  std::int64_t tokens = trace::kNotKnown;
  std::int64_t samples = trace::kNotKnown;
  std::int64_t model_flops = trace::kNotKnown;
  bool nonfinite = false;
  bool has_activity = true;  // whoever recorded would have seen compute and communication
};

class Recorder {
 public:
  static trace::Result<std::unique_ptr<Recorder>> start(RecorderOptions options);
  ~Recorder();  // as stop()
  // Takes in what is queued, writes it, closes the file. Returns the first failure to write.
  trace::Result<void> stop();
  // Why recording ended before the run (disk full, …); "" while all is well.
  std::string failure() const;
  std::int64_t lost() const;
  // Since failure(), and steps that found no room in their queue before.
  trace::UnwrittenRecords unwritten() const;

  // ---- any thread
  static std::int64_t now_ns();                   // CLOCK_REALTIME
  trace::StringId intern(std::string_view text);  // may allocate: not in a hot path
  int add_lane(trace::LaneKind kind, std::string_view name);
  // The lane of the calling thread's operators: what others learn of the thread belongs there, too.
  void set_lane_of_this_thread(int lane);
  // `thread` as CUPTI tells it: the lower half of pthread_self(). None: no such lane. Locks.
  std::optional<int> lane_of_thread(std::uint32_t thread) const;
  bool recording_detail() const;  // false outside the schedule and beyond the size limit
  // Whether the schedule wanted detail at a moment of the past, for events that are reported late;
  // false beyond the size limit.
  bool wanted_detail_at(std::int64_t time_ns) const;
  void log(trace::LogLine::Level level, std::string_view text);
  void count_lost(std::string_view reason, std::int64_t count);
  void add_process_group(int id, std::string_view name, std::string_view backend,
                         std::vector<int> ranks);
  // Changes what RecorderOptions::rank_info said, once more is known.
  void update_rank_info(const std::function<void(trace::RankInfo&)>& change);
  // Rank, time (if 0) and step (if negative) are filled in.
  void add_memory_sample(const trace::MemorySample& sample);
  void add_counter(trace::StringId name, trace::StringId unit, std::int64_t time_ns, double value);
  // Bulk events of the calling thread's queue.
  void add_event(int lane, trace::EventKind kind, const trace::Event& event);
  // For a thread that may wait, and has more to tell than its queues hold: returns once half of
  // them is free. Never on the job's threads.
  void wait_for_room();
  // Many at once, ordered by start; locks: not in a hot path.
  void add_events(int lane, trace::EventKind kind, std::vector<trace::Event> events);
  // Time that a source spent in callbacks on the job's threads; see callback_cost.h.
  void add_callback_cost(std::int64_t ns);

  // ---- the training thread, or the one that finds out about steps; times never go back
  // Calls `follow` where detail ends or begins again with a step, at once if there is none now, so
  // that a source costs nothing without; nullptr ends that.
  void on_detail_change(std::function<void(bool is_wanted)> follow);
  void begin_step(std::int64_t index, std::int64_t at_ns = now_ns());
  void end_step(const StepResult& result, std::int64_t at_ns = now_ns());
  void begin_phase(trace::Phase phase, std::int64_t at_ns = now_ns());
  void end_phase(std::int64_t at_ns = now_ns());
  // A named span inside the current phase; ended by end_phase().
  void begin_span(trace::StringId name);
  std::int64_t step_start_ns() const;
  std::int64_t step() const;   // -1 outside of steps; any thread
  trace::Phase phase() const;  // the innermost; kOther outside of phases; any thread
  void set_bucket_plan(int plan, std::vector<trace::Bucket> buckets);
  void bucket_ready(int bucket);
  void set_units(std::vector<trace::Unit> units, std::vector<trace::UnitParameter> parameters);
  void unit_ready(int unit);
  // After a step; rank and time are filled in.
  void add_evaluation(trace::Evaluation row);
  void progress();  // the training thread moved on; begin/end of steps and phases do this too

  // ---- collectives: the caller of enter, and whichever thread sees start and end
  // Returns a handle; the collective counts as pending until it has ended, in one of three ways.
  std::uint64_t enter_collective(const CollectiveCall& call);
  // 1. Whoever runs it reports its true times.
  void start_collective(std::uint64_t handle, int lane, std::int64_t start_ns);
  void end_collective(std::uint64_t handle, std::int64_t end_ns);
  // 2. The GPU does: the kernel of a launch ran. One kernel may carry several collectives, and a
  // collective may need several kernels.
  void launch_collective(std::uint64_t handle, const CollectiveLaunch& launch);
  void end_launch(std::uint64_t launch, int lane, std::int64_t start_ns, std::int64_t end_ns);
  // 3. The host saw that it was over. Later than the truth, so it counts only where no kernel is
  // known within CollectiveJoin::kKernelLimitNs.
  void observe_collective(std::uint64_t handle, int lane, std::int64_t start_ns,
                          std::int64_t end_ns);

  // ---- collectives that a CUDA graph captures instead: nothing is pending, and each replay is one
  // Returns a handle. The call's sequence counts what a kernel carries at most, from 0. Its process
  // group must have no others.
  std::uint64_t capture_collective(const CollectiveCall& call);
  // Which launch carries it and how, together or one by one: what is 0 is not told. A later launch
  // takes the place of an earlier one.
  void launch_captured(std::uint64_t handle, const CollectiveLaunch& launch);
  void end_replay(const CollectiveReplay& replay);

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class PhaseScope {
 public:
  PhaseScope(Recorder& recorder, trace::Phase phase) : recorder_(recorder) {
    recorder_.begin_phase(phase);
  }
  ~PhaseScope() { recorder_.end_phase(); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Recorder& recorder_;
};

}  // namespace shardlens::profiler
