#include "profiler/cupti/cupti_source.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "profiler/cupti/activity_join.h"
#include "profiler/cupti/api/activity.h"
#include "profiler/cupti/cupti_session.h"
#include "profiler/cupti/graphs/graph_watch.h"
#include "profiler/recorder/clock_watch.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::cupti {

namespace {

constexpr std::chrono::milliseconds kFlushInterval{100};
// More than a short kernel takes: host and GPU no longer line up.
constexpr std::int64_t kClockLimitNs = 10'000;

}  // namespace

struct CuptiSource::State {
  State(recorder::Recorder& target, CuptiSession& session, KernelObserver on_kernel)
      : recorder(target),
        api(session.api()),
        pool(session.pool()),
        graph_nodes(session.graph_nodes()),
        graphs_refused(session.graphs_refused()),
        sink(target, std::move(on_kernel)),
        join(sink, graph_nodes),
        offset_name(target.intern("GPU clock offset")),
        offset_unit(target.intern("ns")) {}

  void run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "cupti flush");
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, kFlushInterval, [this] { return asked > answered; });
      const std::uint64_t question = asked;
      const bool is_asked = question > answered;
      lock.unlock();
      take_in(is_asked ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
      lock.lock();
      answered = question;
      lock.unlock();
      changed.notify_all();
    }
    take_in(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  }

  void take_in(std::uint32_t flush_flag) {
    api.flush_all(flush_flag);
    const std::int64_t now = recorder::Recorder::now_ns();
    pool.drain([&](std::uint8_t* buffer, std::size_t bytes) { take_in(buffer, bytes, now); });
    count_lost("CUPTI had no buffer", pool.take_refused());
    std::size_t dropped = 0;
    if (api.get_dropped(nullptr, 0, &dropped) == CUPTI_SUCCESS)
      count_lost("CUPTI dropped records", static_cast<std::int64_t>(dropped));
    check_graphs();
    join.expire(now, flush_flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    check_clock(now);
  }

  void take_in(std::uint8_t* buffer, std::size_t bytes, std::int64_t now_ns) {
    std::int64_t unknown = 0;
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = api.get_next_record(buffer, bytes, &record)) == CUPTI_SUCCESS) {
      const auto activity = decode(*record);
      if (activity) {
        join.add(*activity, now_ns);
      } else if (!is_known(record->kind)) {
        ++unknown;
      }
    }
    recorder.count_lost("CUPTI record of an unknown kind", unknown);
    count_lost("CUPTI buffer unreadable", result == CUPTI_ERROR_MAX_LIMIT_REACHED ? 0 : 1);
  }

  void count_lost(std::string_view reason, std::int64_t count) {
    if (count == 0) return;
    recorder.count_lost(reason, count);
    join.note_loss();
  }

  void check_graphs() {
    if (graph_nodes == nullptr) return;
    const GraphNodes::Forgotten forgotten = graph_nodes->take_forgotten();
    // Each rank notices this at another place in its records. From there on the numbers by which
    // ranks match their replays may differ, as after a loss.
    if (forgotten.by_change || forgotten.by_number) join.note_loss();
    if (!forgotten.by_change || std::exchange(has_told_of_changed_graphs, true)) return;
    recorder.log(
        trace::model::LogLine::Level::kInfo,
        "The program changes CUDA graphs after it has made them. Collectives of those that "
        "were there are shown as kernels from then on.");
  }

  void check_clock(std::int64_t now_ns) {
    if (!clock_interval.is_over(now_ns)) return;
    const auto clock = cupti_clock_offset(api);
    if (!clock) return;
    recorder.add_counter(offset_name, offset_unit, now_ns, static_cast<double>(clock->offset_ns));
    const std::int64_t at_least = std::abs(clock->offset_ns) - clock->error_ns;
    if (at_least <= kClockLimitNs || std::exchange(has_warned_of_clock, true)) return;
    recorder.log(trace::model::LogLine::Level::kWarning,
                 "The GPU's clock differs from the host's by " +
                     std::to_string(clock->offset_ns / 1'000) + " µs (± " +
                     std::to_string(clock->error_ns / 1'000) +
                     "): kernels are shown that much away from the host's phases. The counter "
                     "\"GPU clock offset\" has its course.");
  }

  recorder::Recorder& recorder;
  const CuptiApi& api;
  CuptiBufferPool& pool;
  GraphNodes* const graph_nodes;  // null: nobody watches graphs
  const std::string& graphs_refused;
  RecorderSink sink;
  ActivityJoin join;
  const trace::model::StringId offset_name;
  const trace::model::StringId offset_unit;
  recorder::ClockInterval clock_interval{1'000'000'000};
  bool has_warned_of_clock = false;
  bool has_told_of_changed_graphs = false;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::uint64_t asked = 0;  // flushes
  std::uint64_t answered = 0;
  std::jthread thread;  // last: it uses the others
};

trace::base::Result<void> CuptiSource::prepare(const CuptiOptions& options) {
  if (is_prepared()) return {};
  TRY(CuptiSession::begin(options));
  return {};
}

bool CuptiSource::is_prepared() { return CuptiSession::active() != nullptr; }

bool CuptiSource::has_work(bool is_forced) {
  CuptiSession* session = CuptiSession::active();
  return session != nullptr && session->has_work(is_forced);
}

std::size_t CuptiSource::held_buffers() {
  CuptiSession* session = CuptiSession::active();
  return session == nullptr ? 0 : session->held_buffers();
}

trace::base::Result<std::unique_ptr<CuptiSource>> CuptiSource::start(recorder::Recorder& recorder,
                                                                     CuptiOptions options) {
  TRY_ASSIGN(CuptiSession* const session, CuptiSession::take(options));
  if (const std::string& refused = session->refused(); !refused.empty())
    recorder.log(trace::model::LogLine::Level::kWarning, "CUPTI does not record " + refused + ".");
  auto state = std::make_unique<State>(recorder, *session, std::move(options.on_kernel));
  State* raw = state.get();
  try {
    state->thread = std::jthread([raw](const std::stop_token& stop) { raw->run(stop); });
  } catch (const std::system_error& none) {
    CuptiSession::end();
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        std::string("What the GPU does is not recorded: there is no thread for it (") +
            none.what() + ").");
  }
  return std::unique_ptr<CuptiSource>(new CuptiSource(std::move(state)));
}

CuptiSource::CuptiSource(std::unique_ptr<State> state) : state_(std::move(state)) {}

CuptiSource::~CuptiSource() {
  state_->thread.request_stop();
  state_->thread.join();
  CuptiSession::end();
}

bool CuptiSource::flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t question = ++state_->asked;
  state_->changed.notify_all();
  return state_->changed.wait_for(lock, limit,
                                  [this, question] { return state_->answered >= question; });
}

const std::string& CuptiSource::graphs_refused() const { return state_->graphs_refused; }

void CuptiSource::begin_launch(std::uint64_t launch, std::uint64_t order) {
  GraphWatch::mark_launch({launch, order});
  if (const CuptiSession* session = CuptiSession::active())
    session->api().push_external_id(kLaunchCorrelation, launch);
}

void CuptiSource::end_launch() {
  GraphWatch::mark_launch({});
  std::uint64_t launch = 0;
  if (const CuptiSession* session = CuptiSession::active())
    session->api().pop_external_id(kLaunchCorrelation, &launch);
}

std::optional<recorder::ClockOffset> cupti_clock_offset(const CuptiApi& api) {
  const auto cupti = [&api]() -> std::optional<std::int64_t> {
    std::uint64_t time = 0;
    if (api.get_timestamp(&time) != CUPTI_SUCCESS || time == 0) return std::nullopt;
    return static_cast<std::int64_t>(time);
  };
  return recorder::measure_clock_offset(cupti, recorder::Recorder::now_ns);
}

}  // namespace shardlens::profiler::cupti
