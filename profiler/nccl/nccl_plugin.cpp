#include "profiler/nccl/nccl_plugin.h"

#include <atomic>
#include <new>
#include <thread>
#include <utility>

namespace shardlens::profiler::nccl {
namespace {

// NCCL's callbacks carry its communicator, not us.
std::atomic<NcclEvents*> active_events{nullptr};
std::atomic<int> running_callbacks{0};
std::atomic<int> communicators_seen{0};
std::atomic<void (*)(const CommunicatorPlace&)> communicator_observer{nullptr};

// Keeps what is attached from going away while a callback uses it.
class ActiveEvents {
 public:
  ActiveEvents() {
    running_callbacks.fetch_add(1);
    events_ = active_events.load();
  }
  ~ActiveEvents() { running_callbacks.fetch_sub(1); }
  ActiveEvents(const ActiveEvents&) = delete;
  ActiveEvents& operator=(const ActiveEvents&) = delete;

  NcclEvents* get() const { return events_; }

 private:
  NcclEvents* events_ = nullptr;
};

nccl::Result on_init(void** context, std::uint64_t communicator, int* mask, const char* name,
                     int nodes, int ranks, int rank, void*) {
  communicators_seen.fetch_add(1, std::memory_order_relaxed);
  if (const auto observe = communicator_observer.load()) observe({rank, ranks, nodes});
  auto* own = new (std::nothrow) NcclCommunicator;
  *context = own;
  if (own == nullptr) return nccl::kSuccess;
  own->hash = communicator;
  own->name = name == nullptr ? "" : name;
  own->ranks = ranks;
  own->rank = rank;
  __atomic_store_n(mask, NcclEvents::kMask, __ATOMIC_RELAXED);  // as NCCL reads it
  return nccl::kSuccess;
}

nccl::Result on_start(void* context, void** handle, nccl::Event* event) {
  *handle = nullptr;
  const ActiveEvents active;
  if (active.get() != nullptr && context != nullptr && event != nullptr)
    *handle = active.get()->start(*static_cast<NcclCommunicator*>(context), *event);
  return nccl::kSuccess;
}

nccl::Result on_stop(void* handle) {
  const ActiveEvents active;
  if (active.get() != nullptr) active.get()->stop(handle);
  return nccl::kSuccess;
}

nccl::Result on_state(void*, int, void*) { return nccl::kSuccess; }

nccl::Result on_finalize(void* context) {
  delete static_cast<NcclCommunicator*>(context);
  return nccl::kSuccess;
}

}  // namespace

trace::base::Result<std::unique_ptr<NcclPlugin>> NcclPlugin::attach(recorder::Recorder& recorder,
                                                                    int rank, LaunchMarker marker) {
  auto events = std::make_unique<NcclEvents>(recorder, rank, marker);
  NcclEvents* none = nullptr;
  if (!active_events.compare_exchange_strong(none, events.get()))
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "NCCL is recorded already: one NcclPlugin per process.");
  return std::unique_ptr<NcclPlugin>(new NcclPlugin(std::move(events)));
}

NcclPlugin::NcclPlugin(std::unique_ptr<NcclEvents> events) : events_(std::move(events)) {}

NcclPlugin::~NcclPlugin() {
  active_events = nullptr;
  while (running_callbacks.load() > 0) std::this_thread::yield();
}

void NcclPlugin::on_communicator(void (*observer)(const CommunicatorPlace&)) {
  communicator_observer = observer;
}

int NcclPlugin::communicators() { return communicators_seen.load(std::memory_order_relaxed); }

}  // namespace shardlens::profiler::nccl

__attribute__((visibility("default"),
               used)) extern const shardlens::profiler::nccl::Profiler ncclProfiler_v5 = {
    "Shardlens",
    shardlens::profiler::nccl::on_init,
    shardlens::profiler::nccl::on_start,
    shardlens::profiler::nccl::on_stop,
    shardlens::profiler::nccl::on_state,
    shardlens::profiler::nccl::on_finalize,
};
