#include "profiler/recorder/recorder.h"

#include <pthread.h>

#include <utility>

#include "profiler/recorder/recorder_state.h"

namespace shardlens::profiler::recorder {

trace::base::Result<std::unique_ptr<Recorder>> Recorder::start(RecorderOptions options) {
  trace::store::TraceWriterOptions writer_options;
  writer_options.size_limit_bytes = options.size_limit_bytes;
  TRY_ASSIGN(auto writer, trace::store::TraceWriter::create(options.file, options.rank_info.rank,
                                                            writer_options));
  auto state = std::make_unique<RecorderState>(std::move(options), std::move(writer));
  state->progress_ns = now_ns();
  RecorderState* raw = state.get();
  state->thread = std::jthread([raw](const std::stop_token& stop) { raw->run(stop); });
  return std::unique_ptr<Recorder>(new Recorder(std::move(state)));
}

Recorder::Recorder(std::unique_ptr<RecorderState> state) : state_(std::move(state)) {}

// The error was returned by stop() to whoever wanted it.
Recorder::~Recorder() { static_cast<void>(stop()); }

trace::base::Result<void> Recorder::stop(bool has_all) { return state_->stop(has_all); }
std::string Recorder::failure() const { return state_->failure(); }
std::int64_t Recorder::lost() const { return state_->lost(); }
trace::model::UnwrittenRecords Recorder::unwritten() const { return state_->unwritten(); }

// ---- steps

std::int64_t Recorder::step() const { return state_->step.load(std::memory_order_relaxed); }
trace::base::Phase Recorder::phase() const { return state_->phase.load(std::memory_order_relaxed); }

std::int64_t Recorder::step_start_ns() const { return state_->step_start_ns; }

void Recorder::on_detail_change(std::function<void(bool)> follow) {
  state_->follow_detail = std::move(follow);
  state_->followed_detail = true;
  state_->tell_follower();
}

void Recorder::begin_step(std::int64_t index, std::int64_t at_ns) {
  // Steps that are found from outside may be told by any thread.
  if (!state_->options.late_steps) state_->core_wait.follow();
  state_->step_start_ns = at_ns;
  state_->step = index;
  state_->last_step = index;
  state_->update_detail();
  state_->update_windows(state_->step_start_ns);
  state_->tell_follower();
  state_->step_detail =
      state_->detail.load(std::memory_order_relaxed) && state_->options.schedule.includes(index);
  state_->progress_ns = trace::base::wall_clock_ns();
  if (state_->options.late_steps) state_->step_times.begin(index, at_ns);
}

void Recorder::end_step(const queue::StepResult& result, std::int64_t at_ns) {
  trace::model::Step row;
  row.rank = state_->rank;
  row.index = step();
  row.start_ns = state_->step_start_ns;
  row.end_ns = at_ns;
  row.loss = result.loss;
  row.gradient_norm = result.gradient_norm;
  row.learning_rate = result.learning_rate;
  row.tokens = result.tokens;
  row.samples = result.samples;
  row.model_flops = result.model_flops;
  row.full_detail =
      state_->step_detail && state_->detail.load(std::memory_order_relaxed) && result.has_activity;
  row.nonfinite = result.nonfinite;
  if (!state_->push_row(row)) ++state_->steps_without_room;
  state_->step = -1;
  state_->update_detail();
  state_->update_windows(row.end_ns);
  state_->tell_follower();
  state_->progress_ns = trace::base::wall_clock_ns();
  if (state_->options.late_steps) state_->step_times.end(at_ns);
}

void Recorder::begin_phase(trace::base::Phase phase, std::int64_t at_ns) {
  const auto name = state_->phase_names[static_cast<std::size_t>(phase)];
  state_->open_phases.push({phase, name, step(), at_ns});
  state_->phase = phase;
  state_->progress_ns = at_ns;
}

void Recorder::end_phase(std::int64_t at_ns) {
  const auto closed = state_->open_phases.pop();
  state_->phase = state_->open_phases.phase();
  state_->progress_ns = at_ns;
  if (!closed) return;
  trace::model::Span row;
  row.rank = state_->rank;
  row.lane = state_->phases_lane;
  row.step = closed->open.step;
  row.phase = closed->open.phase;
  row.depth = closed->depth;
  row.name = closed->open.name;
  row.start_ns = closed->open.start_ns;
  row.end_ns = at_ns;
  state_->push_row(row);
}

void Recorder::tell_in_time(bool is_in_time) { state_->tells_present = is_in_time; }

void Recorder::set_bucket_plan(int plan, std::vector<trace::model::Bucket> buckets) {
  for (trace::model::Bucket& bucket : buckets) bucket.plan = plan;
  state_->rare.add_buckets(std::move(buckets));
}

void Recorder::set_units(std::vector<trace::model::Unit> units,
                         std::vector<trace::model::UnitParameter> parameters) {
  state_->rare.add_units(std::move(units), std::move(parameters));
}

void Recorder::unit_ready(int unit) {
  state_->push_row(
      trace::model::UnitReady{state_->rank, step(), unit, trace::base::wall_clock_ns()});
}

void Recorder::add_evaluation(trace::model::Evaluation row) {
  row.rank = state_->rank;
  row.time_ns = trace::base::wall_clock_ns();
  state_->push_row(row);
}

void Recorder::bucket_ready(int bucket) {
  state_->push_row(
      trace::model::BucketReady{state_->rank, step(), bucket, trace::base::wall_clock_ns()});
}

void Recorder::progress() { state_->progress_ns = trace::base::wall_clock_ns(); }

// ---- collectives

std::uint64_t Recorder::enter_collective(const queue::CollectiveCall& call) {
  queue::CollectiveEntered entered;
  entered.handle = state_->next_collective.fetch_add(1, std::memory_order_relaxed);
  entered.call = call;
  if (state_->tells_present.load(std::memory_order_relaxed)) {
    entered.phase = state_->phase.load(std::memory_order_relaxed);
    entered.step = state_->step.load(std::memory_order_relaxed);
  }
  entered.detail = state_->detail.load(std::memory_order_relaxed);
  entered.enqueued_ns = trace::base::wall_clock_ns();
  state_->push_row(entered);
  return entered.handle;
}

void Recorder::start_collective(std::uint64_t handle, int lane, std::int64_t start_ns) {
  state_->push_row(queue::CollectiveStarted{handle, lane, start_ns});
}

void Recorder::end_collective(std::uint64_t handle, std::int64_t end_ns) {
  state_->push_row(queue::CollectiveEnded{handle, end_ns});
}

void Recorder::launch_collective(std::uint64_t handle, const queue::CollectiveLaunch& launch) {
  state_->push_row(queue::CollectiveLaunched{handle, launch});
}

void Recorder::end_launch(std::uint64_t launch, int lane, std::int64_t start_ns,
                          std::int64_t end_ns) {
  state_->push_row(queue::LaunchEnded{launch, {lane, start_ns, end_ns}});
}

std::uint64_t Recorder::capture_collective(const queue::CollectiveCall& call) {
  const std::uint64_t handle = state_->next_collective.fetch_add(1, std::memory_order_relaxed);
  state_->push_row(queue::CollectiveCaptured{handle, call});
  return handle;
}

void Recorder::launch_captured(std::uint64_t handle, const queue::CollectiveLaunch& launch) {
  state_->push_row(queue::CapturedLaunched{handle, launch});
}

void Recorder::end_replay(const queue::CollectiveReplay& replay) {
  if (state_->over_limit) return state_->rare.add_lost("size limit", 1);
  state_->push_row(replay);
}

void Recorder::observe_collective(std::uint64_t handle, int lane, std::int64_t start_ns,
                                  std::int64_t end_ns) {
  state_->push_row(queue::CollectiveObserved{handle, {lane, start_ns, end_ns}});
}

// ---- any thread

trace::model::StringId Recorder::intern(std::string_view text) {
  return state_->strings.intern(text);
}

int Recorder::add_lane(trace::model::LaneKind kind, std::string_view name) {
  return state_->rare.add_lane(kind, intern(name));
}

void Recorder::set_lane_of_this_thread(int lane) {
  state_->rare.set_lane_of_thread(static_cast<std::uint32_t>(pthread_self()), lane);
}

std::optional<int> Recorder::lane_of_thread(std::uint32_t thread) const {
  return state_->rare.lane_of_thread(thread);
}

bool Recorder::recording_detail() const { return state_->detail.load(std::memory_order_relaxed); }

bool Recorder::wanted_detail_at(std::int64_t time_ns) const {
  return state_->has_detail_at(time_ns);
}

void Recorder::log(trace::model::LogLine::Level level, std::string_view text) {
  state_->rare.add_log({state_->rank, now_ns(), level, std::string(text)});
}

void Recorder::count_lost(std::string_view reason, std::int64_t count) {
  state_->rare.add_lost(reason, count);
}

void Recorder::add_process_group(int id, std::string_view name, std::string_view backend,
                                 std::vector<int> ranks) {
  state_->rare.add_process_group(
      {state_->rank, id, intern(name), intern(backend), std::move(ranks)});
}

void Recorder::update_rank_info(const std::function<void(trace::model::RankInfo&)>& change) {
  state_->rare.update_rank_info(change);
}

void Recorder::follow_sources(std::function<std::string()> sources) {
  state_->follow_sources(std::move(sources));
}

void Recorder::add_memory_sample(const trace::model::MemorySample& sample) {
  trace::model::MemorySample row = sample;
  row.rank = state_->rank;
  if (row.time_ns == 0) row.time_ns = now_ns();
  // Which step it is will be known when the moment has long passed.
  if (row.step < 0 && !state_->options.late_steps) row.step = step();
  state_->push_row(row);
}

void Recorder::add_counter(trace::model::StringId name, trace::model::StringId unit,
                           std::int64_t time_ns, double value) {
  state_->push_row(trace::model::CounterSample{state_->rank, name, unit, time_ns, value});
}

void Recorder::add_event(int lane, trace::model::EventKind kind, const trace::model::Event& event) {
  state_->queues.of_this_thread().events.push({event, lane, kind});
}

void Recorder::wait_for_room() { state_->wait_for_room(); }

void Recorder::add_events(int lane, trace::model::EventKind kind,
                          std::vector<trace::model::Event> events) {
  if (events.empty()) return;
  state_->added_events.fetch_add(static_cast<std::int64_t>(events.size()),
                                 std::memory_order_relaxed);
  state_->rare.add_events({state_->rank, lane, kind, std::move(events)});
}

void Recorder::add_callback_cost(std::int64_t ns) {
  state_->callback_ns.fetch_add(ns, std::memory_order_relaxed);
}

}  // namespace shardlens::profiler::recorder
