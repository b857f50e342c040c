#include <ATen/record_function.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "profiler/pytorch/dispatch_cost.h"
#include "profiler/pytorch/operator_names.h"
#include "profiler/pytorch/operator_stack.h"
#include "profiler/pytorch/tick_clock.h"
#include "profiler/pytorch/torch_sources.h"
#include "profiler/recorder/callback_cost.h"

namespace shardlens::profiler::pytorch {
namespace {

// LibTorch names its threads; the one that made the observer is the main one.
std::string lane_name(std::thread::id main_thread) {
  if (std::this_thread::get_id() == main_thread) return "main thread";
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  const std::string_view text = name;
  if (text.starts_with("pt_autograd")) return "autograd thread";
  if (text.starts_with("pt_gloo")) return "gloo thread";
  return text.empty() ? "thread" : std::string(text);
}

}  // namespace

struct OperatorObserver::State {
  State(recorder::Recorder& target, bool operators_are_compute)
      : recorder(target), are_compute(operators_are_compute), id(next_id()) {}

  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> counter{0};
    return counter.fetch_add(1) + 1;
  }

  struct Thread;
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);
  Thread& this_thread();

  recorder::Recorder& recorder;
  const bool are_compute;
  const std::uint64_t id;
  const std::thread::id main_thread = std::this_thread::get_id();
  const recorder::CallbackClock cost_clock = recorder::CallbackClock::calibrate();
  const DispatchCost dispatch = measure_dispatch_cost();
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;

  // Of the calling thread; may be an older observer's. The plain pointer beside its owner saves
  // every callback the check whether the owner is built.
  static inline thread_local constinit Thread* current = nullptr;

  // LibTorch's callbacks are plain functions: this is how they find their observer.
  static inline std::atomic<State*> active{nullptr};
};

// What the observer keeps per thread; made anew when another observer meets the thread.
struct OperatorObserver::State::Thread {
  explicit Thread(State& state) : observer_id(state.id), names(state.recorder) {}

  int operators_lane(State& state) {
    if (lane < 0) {
      lane =
          state.recorder.add_lane(trace::model::LaneKind::kOperators, lane_name(state.main_thread));
      state.recorder.set_lane_of_this_thread(lane);
    }
    return lane;
  }

  const std::uint64_t observer_id;
  OperatorStack stack;
  OperatorNames names;
  recorder::CallbackCost cost;
  TickClock clock;
  int lane = -1;
};

OperatorObserver::State::Thread& OperatorObserver::State::this_thread() {
  if (current != nullptr && current->observer_id == id) return *current;
  thread_local std::unique_ptr<Thread> owner;
  owner = std::make_unique<Thread>(*this);
  current = owner.get();
  return *current;
}

std::unique_ptr<at::ObserverContext> OperatorObserver::State::on_start(
    const at::RecordFunction& function) {
  State* state = active.load(std::memory_order_acquire);
  // A span that may end on another thread is no operator: a backend's own, say, and who makes the
  // collectives reports them.
  if (state == nullptr || function.isAsync()) return nullptr;
  Thread& thread = state->this_thread();
  const bool sampled = thread.cost.sampled();
  const std::uint64_t before = sampled ? state->cost_clock.now() : 0;
  const char* name = function.name();
  if (!state->recorder.recording_detail()) {
    thread.stack.begin(0, 0, std::string_view(name).starts_with("aten::"));
    return nullptr;
  }
  const OperatorNames::Entry& entry = thread.names.find(name);
  thread.stack.begin(thread.clock.now_ns(), entry.id, entry.is_aten, entry.only_allocates);
  if (sampled) {
    // The sampled begins stand for all operators and nodes. Of a node's, the time depends on
    // whether its name, which has no address of its own, was met just before.
    const std::int64_t measured = state->cost_clock.ns_between(before, state->cost_clock.now());
    if (!entry.is_node) thread.cost.compare(measured);
    state->recorder.add_callback_cost(thread.cost.scaled_ns(
        measured, entry.is_node ? state->dispatch.node_ns : state->dispatch.operator_ns));
  }
  return nullptr;
}

void OperatorObserver::State::on_end(const at::RecordFunction& function, at::ObserverContext*) {
  State* state = active.load(std::memory_order_acquire);
  if (state == nullptr || function.isAsync()) return;
  Thread& thread = state->this_thread();
  const bool sampled = thread.cost.sampled();
  const std::uint64_t before = sampled ? state->cost_clock.now() : 0;
  const std::int64_t now = thread.clock.now_ns();
  const OperatorStack::Ended ended = thread.stack.end(state->are_compute);
  if (ended.start_ns != 0) {
    trace::model::Event event;
    event.start_ns = ended.start_ns;
    event.duration_ns = now - ended.start_ns;
    event.name = ended.name;
    event.flags = ended.flags;
    state->recorder.add_event(thread.operators_lane(*state), trace::model::EventKind::kOperator,
                              event);
  }
  if (sampled)
    state->recorder.add_callback_cost(
        thread.cost.scaled_ns(state->cost_clock.ns_between(before, state->cost_clock.now())));
}

trace::model::StringId OperatorObserver::allocating_operator() {
  const State* state = State::active.load(std::memory_order_acquire);
  const State::Thread* thread = State::current;
  if (state == nullptr || thread == nullptr || thread->observer_id != state->id) return 0;
  return thread->stack.allocating();
}

OperatorObserver::OperatorObserver(recorder::Recorder& recorder, bool operators_are_compute)
    : state_(std::make_unique<State>(recorder, operators_are_compute)) {
  State::active.store(state_.get(), std::memory_order_release);
  // Not BACKWARD_FUNCTION: it repeats each autograd node inside its evaluate_function, and LibTorch
  // demangles the node's name for it every time.
  state_->callback =
      at::addGlobalCallback(at::RecordFunctionCallback(&State::on_start, &State::on_end)
                                .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
  recorder.on_detail_change([callback = state_->callback](bool is_wanted) {
    is_wanted ? at::reenableCallback(callback) : at::disableCallback(callback);
  });
}

OperatorObserver::~OperatorObserver() {
  state_->recorder.on_detail_change(nullptr);
  at::removeCallback(state_->callback);
  State::active.store(nullptr, std::memory_order_release);
}

}  // namespace shardlens::profiler::pytorch
