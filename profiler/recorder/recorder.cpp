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

Recorder::Recorder(std::unique_ptr<RecorderState> state)
    : StepRecorder(*state), CollectiveRecorder(*state), state_(std::move(state)) {}

// The error was returned by stop() to whoever wanted it.
Recorder::~Recorder() { static_cast<void>(stop()); }

trace::base::Result<void> Recorder::stop(bool has_all) { return state_->stop(has_all); }
std::string Recorder::failure() const { return state_->failure(); }
std::int64_t Recorder::lost() const { return state_->lost(); }
trace::model::UnwrittenRecords Recorder::unwritten() const { return state_->unwritten(); }

// ---- any thread

trace::model::StringId Recorder::intern(std::string_view text) {
  return state_->strings.intern(text);
}

int Recorder::add_lane(trace::model::LaneKind kind, std::string_view name) {
  return state_->unqueued.add_lane(kind, intern(name));
}

void Recorder::set_lane_of_this_thread(int lane) {
  state_->unqueued.set_lane_of_thread(static_cast<std::uint32_t>(pthread_self()), lane);
}

std::optional<int> Recorder::lane_of_thread(std::uint32_t thread) const {
  return state_->unqueued.lane_of_thread(thread);
}

bool Recorder::recording_detail() const { return state_->detail.load(std::memory_order_relaxed); }

bool Recorder::wanted_detail_at(std::int64_t time_ns) const {
  return state_->has_detail_at(time_ns);
}

void Recorder::log(trace::model::LogLine::Level level, std::string_view text) {
  state_->unqueued.add_log({state_->rank, now_ns(), level, std::string(text)});
}

void Recorder::count_lost(std::string_view reason, std::int64_t count) {
  state_->unqueued.add_lost(reason, count);
}

void Recorder::add_process_group(int id, std::string_view name, std::string_view backend,
                                 std::vector<int> ranks) {
  state_->unqueued.add_process_group(
      {state_->rank, id, intern(name), intern(backend), std::move(ranks)});
}

void Recorder::update_rank_info(const std::function<void(trace::model::RankInfo&)>& change) {
  state_->unqueued.update_rank_info(change);
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
  state_->unqueued.add_events({state_->rank, lane, kind, std::move(events)});
}

void Recorder::add_callback_cost(std::int64_t ns) {
  state_->callback_ns.fetch_add(ns, std::memory_order_relaxed);
}

}  // namespace shardlens::profiler::recorder
