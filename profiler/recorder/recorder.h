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

#include "profiler/recorder/collective_recorder.h"
#include "profiler/recorder/step_recorder.h"
#include "trace/base/result.h"
#include "trace/job/settings/grammars.h"
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

// Steps and collectives have parts of their own; the rest is here.
class Recorder final : public StepRecorder, public CollectiveRecorder {
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

}  // namespace shardlens::profiler::recorder
