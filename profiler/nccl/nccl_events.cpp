#include "profiler/nccl/nccl_events.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/nccl/nccl_names.h"
#include "profiler/recorder/callback_cost.h"

namespace shardlens::profiler::nccl {
namespace {

struct ThreadState {
  std::uint64_t host_collective = 0;
  // The latest launch on this thread: the events of what it carries follow on the same thread.
  std::uint64_t launch = 0;
  const NcclCommunicator* communicator = nullptr;
  bool is_marked = false;
  bool is_captured = false;  // the launch
  // Calls whose kernel NCCL may not tell: of the outermost group that is open on this thread, and
  // of earlier ones, of communicators that are launched apart.
  struct GroupCall {
    void* handle = nullptr;
    const NcclCommunicator* communicator = nullptr;  // may have ended
    bool is_launched_apart = false;
  };
  std::vector<GroupCall> group_calls, untold;
  // What this thread has launched since that group began.
  struct GroupLaunch {
    const NcclCommunicator* communicator = nullptr;
    std::uint64_t number = 0;
    bool is_told = false;  // what it carries; if not, a host function of CUDA tells it
  };
  std::vector<GroupLaunch> group_launches;
  std::uint64_t group_of = 0;  // number of the NcclEvents that saw the group begin
  bool is_group_open = false;
  std::uint64_t group_launch = 0;  // the mark around all that is launched for it; 0: none
};
thread_local ThreadState thread_state;

// Unlike handles of calls, addresses have their two lowest bits clear.
alignas(4) char ignored_event;
alignas(4) char launch_event;
alignas(4) char group_event;

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> numbers{0};
  return numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Launches are numbered per process: a kernel that is reported late must not be taken for one of a
// later recording.
std::uint64_t next_launch() {
  static std::atomic<std::uint64_t> launches{0};
  return launches.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Algorithms and protocols of NCCL 2.28 (ncclAlgoToString, ncclProtoToString), and Python's types.
constexpr std::array<std::string_view, 22> kKnownNames{
    "TREE",    "RING",     "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",    "NVLS_TREE",
    "PAT",     "LL",       "LL128",          "SIMPLE",        "int8",    "uint8",
    "int32",   "uint32",   "int64",          "uint64",        "float16", "float32",
    "float64", "bfloat16", "float8_e4m3fn",  "float8_e5m2"};

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

// Charges a callback to the recording.
class CostScope {
 public:
  explicit CostScope(recorder::Recorder& recorder)
      : recorder_(recorder),
        is_sampled_(cost().sampled()),
        start_(is_sampled_ ? clock().now() : 0) {}
  ~CostScope() {
    if (is_sampled_)
      recorder_.add_callback_cost(cost().scaled_ns(clock().ns_between(start_, clock().now())));
  }
  CostScope(const CostScope&) = delete;
  CostScope& operator=(const CostScope&) = delete;

 private:
  static const recorder::CallbackClock& clock() {
    static const recorder::CallbackClock calibrated = recorder::CallbackClock::calibrate();
    return calibrated;
  }
  static recorder::CallbackCost& cost() {
    thread_local recorder::CallbackCost of_thread;
    return of_thread;
  }

  recorder::Recorder& recorder_;
  const bool is_sampled_;
  const std::uint64_t start_;
};

// See LaunchMarker.
std::uint64_t order_of(const NcclCommunicator& communicator) {
  switch (communicator.captured.counting()) {
    case CapturedGroup::Counting::kWithAllRanks:
      return communicator.hash;
    case CapturedGroup::Counting::kUnsure:
      return LaunchMarker::kUnsure;
    case CapturedGroup::Counting::kNot:
      break;
  }
  return LaunchMarker::kNoOrder;
}

// The launch of the latest group that a host function of CUDA tells of; 0: there are several. None:
// NCCL has told of all.
std::optional<std::uint64_t> launch_to_be_told(const NcclCommunicator* communicator) {
  std::optional<std::uint64_t> found;
  for (const ThreadState::GroupLaunch& each : thread_state.group_launches) {
    if (each.is_told || each.communicator != communicator) continue;
    found = found ? 0 : each.number;
  }
  return found;
}

bool is_point_to_point(trace::model::CollectiveFunction function) {
  return function == trace::model::CollectiveFunction::kSend ||
         function == trace::model::CollectiveFunction::kReceive;
}

}  // namespace

NcclEvents::NcclEvents(recorder::Recorder& recorder, int rank, LaunchMarker marker)
    : recorder_(recorder),
      rank_(rank),
      marker_(marker),
      number_(next_number()),
      captured_(number_) {
  for (std::size_t i = 0; i < kKnownNames.size(); ++i)
    known_names_[i] = {kKnownNames[i], recorder.intern(kKnownNames[i])};
}

NcclEvents::~NcclEvents() {
  recorder_.count_lost("NCCL call without a free slot", calls_lost_);
  recorder_.count_lost("NCCL collective of an unknown call", parents_lost_);
}

void* NcclEvents::start(NcclCommunicator& communicator, const nccl::Event& event) {
  const CostScope cost(recorder_);
  switch (event.type) {
    case nccl::kCollectiveCall:
      return start_call(communicator, event.collective_call);
    case nccl::kPointToPointCall:
      return start_call(communicator, event.point_to_point_call);
    case nccl::kGroupCall:
      begin_group(communicator);
      return &group_event;
    case nccl::kKernelLaunch:
      return start_launch(communicator);
    case nccl::kCollective:
      carry_out(communicator, event.parent,
                {.algorithm = name_id(text_of(event.collective.algorithm)),
                 .protocol = name_id(text_of(event.collective.protocol)),
                 .channels = event.collective.channels});
      break;
    case nccl::kPointToPoint:
      carry_out(communicator, event.parent, {.channels = event.point_to_point.channels});
      break;
    default:
      break;
  }
  return &ignored_event;
}

void NcclEvents::stop(void* handle) {
  const CostScope cost(recorder_);
  if (handle == &launch_event) end_mark();
  if (handle == &group_event) end_group();
}

template <typename CallEvent>
void* NcclEvents::start_call(NcclCommunicator& communicator, const CallEvent& event) {
  // Its kernel runs with every replay, without a call.
  if (event.is_captured) {
    tell_of_graphs();
    if (!marker_.sees_replays || thread_state.host_collective != 0) return &ignored_event;
    return start_captured_call(communicator, event);
  }
  communicator.captured.end();
  end_untold(communicator);
  NcclCallPool::Call call{.collective = thread_state.host_collective,
                          .called_ns = recorder::Recorder::now_ns(),
                          .is_in_group = has_open_group()};
  if (call.collective == 0) {
    call.is_foreign = true;
    call.collective = recorder_.enter_collective(call_in(communicator, NcclGroup::kCalls, event));
  }
  if (void* handle = calls_.claim(call)) {
    await_group_end(communicator, handle);
    return handle;
  }
  calls_lost_.fetch_add(1, std::memory_order_relaxed);
  if (call.is_foreign) end_unseen(call);
  return &ignored_event;
}

template <typename CallEvent>
void* NcclEvents::start_captured_call(NcclCommunicator& communicator, const CallEvent& event) {
  if (communicator.captured.starts_anew()) communicator.graphs.next_sequence = 0;
  const queue::CollectiveCall call = call_in(communicator, NcclGroup::kGraphs, event);
  const std::uint64_t collective = recorder_.capture_collective(call);
  communicator.captured.add_call(collective, !is_point_to_point(call.function));
  void* handle = captured_.add(collective);
  return handle == nullptr ? &ignored_event : handle;
}

void* NcclEvents::start_launch(NcclCommunicator& communicator) {
  end_mark();  // if a stop was missing
  communicator.is_launched_apart.store(!has_open_group(), std::memory_order_relaxed);
  thread_state.communicator = &communicator;
  thread_state.launch = marker_.begin == nullptr ? 0 : next_launch();
  if (has_open_group()) thread_state.group_launches.push_back({&communicator, thread_state.launch});
  if (marker_.begin == nullptr) return &ignored_event;
  marker_.begin(thread_state.launch, order_of(communicator));
  thread_state.is_marked = true;
  thread_state.is_captured = communicator.captured.is_open();
  if (thread_state.is_captured) launch_captured(communicator);
  return &launch_event;
}

void NcclEvents::launch_captured(NcclCommunicator& communicator) {
  const CapturedGroup::Carried carried = communicator.captured.begin_launch();
  const std::uint64_t launch =
      carried.is_known ? thread_state.launch : queue::CollectiveLaunch::kNotFound;
  for (const std::uint64_t collective : carried.collectives)
    recorder_.launch_captured(collective, {.launch = launch});
}

void NcclEvents::end_mark() {
  if (!thread_state.is_marked) return;
  thread_state.is_marked = false;
  if (marker_.end != nullptr) marker_.end();
}

void NcclEvents::begin_group(NcclCommunicator& communicator) {
  if (has_open_group()) end_group();  // if a stop was missing
  if (std::exchange(thread_state.group_of, number_) != number_) thread_state.untold.clear();
  thread_state.group_calls.clear();
  thread_state.group_launches.clear();
  thread_state.is_group_open = true;
  thread_state.group_launch = 0;
  communicator.captured.begin_group();
}

bool NcclEvents::has_open_group() const {
  return thread_state.is_group_open && thread_state.group_of == number_;
}

// Of some calls NCCL tells neither their launch nor what carries them, since
// ncclProfilerStartKernelLaunchEvent and ncclProfilerStartTaskEvents look at two of its queues
// alone: of those on symmetric windows (2.28), and of broadcasts (2.29.2, bcastTaskQueue, unless
// NCCL_ALLGATHERV_ENABLE is 0). What this thread launches before the end of the group is marked in
// NCCL's place; a launch that NCCL does tell of has a mark of its own inside.
void NcclEvents::await_group_end(const NcclCommunicator& communicator, void* call) {
  if (!has_open_group()) return;
  const bool is_launched_apart = communicator.is_launched_apart.load(std::memory_order_relaxed);
  thread_state.group_calls.push_back({call, &communicator, is_launched_apart});
  if (marker_.begin == nullptr || thread_state.group_launch != 0) return;
  thread_state.group_launch = next_launch();
  marker_.begin(thread_state.group_launch, LaunchMarker::kNoOrder);
}

void NcclEvents::end_group() {
  end_mark();  // if a stop was missing
  if (!has_open_group()) return;
  thread_state.is_group_open = false;
  const std::uint64_t launch = thread_state.group_launch;
  if (launch != 0 && marker_.end != nullptr) marker_.end();
  for (const ThreadState::GroupCall& each : thread_state.group_calls) {
    const auto to_be_told = launch_to_be_told(each.communicator);
    if (to_be_told || each.is_launched_apart) {
      const auto told = calls_.leave_group(each.handle, to_be_told.value_or(0));
      if (told) note_launched(*told, told->launch);
      if (!to_be_told) thread_state.untold.push_back(each);
    } else if (const auto call = calls_.take(each.handle)) {
      recorder_.launch_collective(call->collective, {.launch = launch});
      if (call->is_foreign) end_unseen(*call);
    }
  }
}

// NCCL takes no further call of a communicator before it has launched the earlier ones
// (ncclCommEnsureReady), on whichever thread, and told of them what it tells.
void NcclEvents::end_untold(const NcclCommunicator& communicator) {
  if (thread_state.group_of != number_) return;
  std::erase_if(thread_state.untold, [&](const ThreadState::GroupCall& each) {
    if (each.communicator != &communicator) return false;
    const auto call = calls_.take(each.handle);
    if (call && call->is_foreign) end_unseen(*call);
    return true;
  });
}

// Where NCCL's host takes part in what is launched, and must wait for the stream (across machines
// once a graph has captured calls of the communicator, and with CUDA_LAUNCH_BLOCKING), a host
// function of CUDA tells it, on another thread, when the launch may not even have begun.
void NcclEvents::carry_out(NcclCommunicator& communicator, void* parent,
                           queue::CollectiveLaunch launch) {
  const bool is_told_at_launch = thread_state.communicator == &communicator;
  if (is_told_at_launch && has_open_group() && !thread_state.group_launches.empty())
    thread_state.group_launches.back().is_told = true;
  if (const auto captured = captured_.take(parent))
    return carry_out_captured(communicator, *captured, launch);
  if (parent == &ignored_event && thread_state.host_collective == 0) return;
  if (is_told_at_launch) launch.launch = thread_state.launch;
  const auto call = is_told_at_launch ? calls_.take(parent) : calls_.tell(parent, launch);
  if (!call && thread_state.host_collective != 0) {
    recorder_.launch_collective(thread_state.host_collective, launch);
  } else if (!call) {
    parents_lost_.fetch_add(1, std::memory_order_relaxed);
  } else if (is_told_at_launch) {
    note_launched(*call, launch);
  } else if (!call->is_in_group) {
    note_launched(*call, call->launch);
  }
}

void NcclEvents::note_launched(const NcclCallPool::Call& call,
                               const queue::CollectiveLaunch& launch) {
  recorder_.launch_collective(call.collective, launch);
  if (call.is_foreign && launch.launch == 0) end_unseen(call);
}

// Told once, while it is captured, or again and again by a host function in the graph, which knows
// nothing of the launch.
void NcclEvents::carry_out_captured(NcclCommunicator& communicator, const CapturedCalls::Call& call,
                                    queue::CollectiveLaunch launch) {
  const bool is_at_launch = thread_state.communicator == &communicator && thread_state.is_captured;
  if (call.is_told) return;
  if (is_at_launch) {
    communicator.captured.tell(call.collective);
    launch.launch = thread_state.launch;
  }
  recorder_.launch_captured(call.collective, launch);
}

// Nothing else may end it ever: it would be shown as pending, and kept, to the end of the run. What
// the host's call took says nothing of how long it took.
void NcclEvents::end_unseen(const NcclCallPool::Call& call) {
  std::call_once(has_lane_, [this] {
    lane_ =
        recorder_.add_lane(trace::model::LaneKind::kCommunication, "nccl, as called by the host");
  });
  recorder_.observe_collective(call.collective, lane_, call.called_ns, call.called_ns);
}

template <typename CallEvent>
queue::CollectiveCall NcclEvents::call_in(NcclCommunicator& communicator, NcclGroup which,
                                          const CallEvent& event) {
  NcclCommunicator::Group& group = communicator.group(which);
  if (group.announced_to.exchange(number_, std::memory_order_relaxed) != number_)
    announce_group(recorder_, communicator, which, rank_);
  const NcclType type = nccl_type(text_of(event.data_type));
  queue::CollectiveCall call;
  call.process_group = nccl_group_id(communicator.hash, which);
  call.function = call.executed = nccl_function(text_of(event.function));
  // Programs must ask for collectives in the same order on all ranks. NCCL's own numbers are per
  // function. Sends and receives have no common order.
  if (!is_point_to_point(call.function))
    call.sequence = group.next_sequence.fetch_add(1, std::memory_order_relaxed);
  call.data_type = name_id(type.name);
  call.bytes = nccl_bytes(call.function, event.count, type.bytes, communicator.ranks);
  return call;
}

void NcclEvents::tell_of_graphs() {
  if (told_of_graphs_.exchange(true, std::memory_order_relaxed)) return;
  recorder_.log(
      trace::model::LogLine::Level::kInfo,
      marker_.sees_replays
          ? "Collectives were captured into a CUDA graph: each replay has rows of what was "
            "asked for then, in process groups of their own."
          : "Collectives were captured into a CUDA graph: each replay shows their kernels, "
            "but not as collectives.");
}

trace::model::StringId NcclEvents::name_id(std::string_view name) {
  if (name.empty()) return 0;
  const auto known =
      std::ranges::find(known_names_, name, [](const auto& entry) { return entry.first; });
  return known == known_names_.end() ? recorder_.intern(name) : known->second;
}

HostCollectiveScope::HostCollectiveScope(std::uint64_t collective)
    : outer_(thread_state.host_collective) {
  thread_state.host_collective = collective;
}

HostCollectiveScope::~HostCollectiveScope() { thread_state.host_collective = outer_; }

}  // namespace shardlens::profiler::nccl
