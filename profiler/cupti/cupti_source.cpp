#include "profiler/cupti/cupti_source.h"

#include <cupti.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "profiler/cupti/activity.h"
#include "profiler/cupti/activity_join.h"
#include "profiler/cupti/buffer_pool.h"
#include "profiler/cupti/recorder_sink.h"

namespace shardlens::profiler {
namespace {

constexpr std::chrono::milliseconds kFlushInterval{100};

constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD,
};

// One by one, since RUNTIME or DRIVER in full costs up to 10 % of a step.
constexpr CUpti_CallbackId kLaunchCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

// CUPTI's callbacks carry no context, so this is how they find their buffers.
std::atomic<CuptiBufferPool*> active_pool{nullptr};

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) {
  CuptiBufferPool* pool = active_pool.load(std::memory_order_acquire);
  *buffer = pool == nullptr ? nullptr : pool->request();
  *size = *buffer == nullptr ? 0 : CuptiBufferPool::kBufferBytes;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid_bytes) {
  if (CuptiBufferPool* pool = active_pool.load(std::memory_order_acquire))
    pool->complete(buffer, valid_bytes);
}

std::string result_text(CUptiResult result) {
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  return std::string(text == nullptr ? "unknown error" : text) + " (" + std::to_string(result) +
         ")";
}

trace::Result<void> check(CUptiResult result, const std::string& what) {
  if (result == CUPTI_SUCCESS) return {};
  const bool taken = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  return trace::fail(
      trace::ErrorKind::kFailed,
      "GPU activity cannot be recorded: " + what + " failed with " + result_text(result) +
          (taken ? ". Another profiler (nsys, the torch profiler) has CUPTI: run without it. "
                 : ". Check with `shardlens doctor` that there is a GPU with a working driver. ") +
          "Until then operators are recorded on the CPU instead.");
}

trace::Result<void> enable_in_turn() {
  TRY(check(cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed),
            "cuptiActivityRegisterCallbacks"));
  for (const CUpti_ActivityKind kind : kKinds)
    TRY(check(cuptiActivityEnable(kind), "cuptiActivityEnable of kind " + std::to_string(kind)));
  for (const CUpti_CallbackId call : kLaunchCalls)
    TRY(check(cuptiActivityEnableDriverApi(call, 1),
              "cuptiActivityEnableDriverApi of call " + std::to_string(call)));
  return {};
}

// All or nothing: what stayed enabled would cost time and ask for buffers that nobody gives.
trace::Result<void> enable_everything() {
  auto enabled = enable_in_turn();
  if (enabled) return enabled;
  // Disabling what was not enabled does no harm. Its own failure has no remedy.
  for (const CUpti_CallbackId call : kLaunchCalls) {
    static_cast<void>(cuptiActivityEnableDriverApi(call, 0));
  }
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cuptiActivityDisable(kind));
  return enabled;
}

}  // namespace

struct CuptiSource::State {
  State(Recorder& target, CuptiBufferPool& buffers, KernelObserver on_kernel)
      : recorder(target), pool(buffers), sink(target, std::move(on_kernel)), join(sink) {}

  void run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "cupti flush");
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex);
      wait.wait_for(lock, stop, kFlushInterval, [] { return false; });
      lock.unlock();
      cuptiActivityFlushAll(0);
      take_in();
    }
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    take_in();
  }

  void take_in() {
    const std::int64_t now = Recorder::now_ns();
    pool.drain([&](std::uint8_t* buffer, std::size_t bytes) { take_in(buffer, bytes, now); });
    join.expire(now);
    recorder.count_lost("CUPTI had no buffer", pool.take_refused());
    std::size_t dropped = 0;
    if (cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS)
      recorder.count_lost("CUPTI dropped records", static_cast<std::int64_t>(dropped));
  }

  void take_in(std::uint8_t* buffer, std::size_t bytes, std::int64_t now_ns) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS)
      if (const auto activity = decode(*record)) join.add(*activity, now_ns);
  }

  Recorder& recorder;
  CuptiBufferPool& pool;
  RecorderSink sink;
  ActivityJoin join;
  std::mutex mutex;
  std::condition_variable_any wait;
  std::jthread thread;  // last: it uses the others
};

trace::Result<std::unique_ptr<CuptiSource>> CuptiSource::start(Recorder& recorder,
                                                               CuptiOptions options) {
  if (active_pool.load() != nullptr)
    return trace::fail(trace::ErrorKind::kFailed,
                       "GPU activity is recorded already: one CuptiSource per process.");
  auto pool = std::make_unique<CuptiBufferPool>(options.buffers);
  active_pool = pool.get();
  if (auto enabled = enable_everything(); !enabled) {
    active_pool = nullptr;
    // Nothing was launched yet, but CUPTI may have asked for a buffer all the same.
    static_cast<void>(pool.release());
    return tl::make_unexpected(enabled.error());
  }
  // Never freed: CUPTI is never disabled (doing so mid-run is unsafe) and may hold buffers until
  // the process ends.
  auto state = std::make_unique<State>(recorder, *pool.release(), std::move(options.on_kernel));
  State* raw = state.get();
  state->thread = std::jthread([raw](const std::stop_token& stop) { raw->run(stop); });
  return std::unique_ptr<CuptiSource>(new CuptiSource(std::move(state)));
}

CuptiSource::CuptiSource(std::unique_ptr<State> state) : state_(std::move(state)) {}

CuptiSource::~CuptiSource() {
  state_->thread.request_stop();
  state_->thread.join();
  active_pool = nullptr;
}

}  // namespace shardlens::profiler
