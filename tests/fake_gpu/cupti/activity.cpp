#include "tests/fake_gpu/cupti/activity.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "tests/fake_gpu/cuda/capture.h"
#include "tests/fake_gpu/cupti/counters.h"
#include "tests/fake_gpu/cupti/cupti_records.h"

namespace shardlens::fake_gpu {
namespace {

// The call that launches, from its beginning to its end.
class LaunchCall {
 public:
  LaunchCall(CUpti_ActivityKind kind, CUpti_CallbackId call)
      : kind_(kind), call_(call), correlation_(next_correlation()), start_ns_(now_ns()) {}
  LaunchCall(const LaunchCall&) = delete;
  LaunchCall& operator=(const LaunchCall&) = delete;
  ~LaunchCall() {
    if (!is_call_wanted(kind_, call_)) return;
    const std::int64_t end_ns = now_ns();
    CUpti_ActivityAPI record{};
    record.kind = kind_;
    record.cbid = call_;
    record.start = static_cast<std::uint64_t>(start_ns_);
    record.end = static_cast<std::uint64_t>(end_ns);
    record.processId = static_cast<std::uint32_t>(getpid());
    record.threadId = static_cast<std::uint32_t>(pthread_self());
    record.correlationId = correlation_;
    put(record, end_ns);
    put_external_ids(correlation_, end_ns);
  }
  std::uint32_t correlation() const { return correlation_; }

 private:
  CUpti_ActivityKind kind_;
  CUpti_CallbackId call_;
  std::uint32_t correlation_;
  std::int64_t start_ns_;
};

template <typename Record>
void place(Record& record, const Stream& stream, const Launched& launched) {
  record.deviceId = static_cast<std::uint32_t>(stream_device(stream));
  record.contextId = 1;
  record.streamId = stream_id(stream);
  record.correlationId = launched.correlation;
  record.graphNodeId = launched.graph_node;
  record.graphId = static_cast<std::uint32_t>(launched.graph_node >> 32);
}

template <typename Record>
void put_span(Record record, Span span) {
  record.start = static_cast<std::uint64_t>(span.start_ns);
  record.end = static_cast<std::uint64_t>(span.end_ns);
  put(record, span.end_ns);
}

// What happens once the times of the work are known.
template <typename Record>
std::function<void(Span)> finish(const Record& record, CUpti_ActivityKind kind,
                                 std::function<void()> effect) {
  return [record, is_told = is_wanted(kind), effect = std::move(effect)](Span span) {
    if (effect) effect();
    if (is_told) put_span(record, span);
  };
}

// Now or, where the stream is captured, with every replay.
template <typename Work>
void put_in(Stream& stream, CUgraphNodeType type, std::uint32_t correlation, const Work& work) {
  if (capture_state(stream).status == cudaStreamCaptureStatusNone)
    return work(stream, Launched{correlation});
  capture_work(stream, type, work);
}

void run_kernel(const Kernel& kernel, Stream& stream, const Launched& launched) {
  counters().kernels++;
  counters().kernel_ns += kernel.duration_ns;
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = kernel.name;
  place(record, stream, launched);
  Kernel::Entered run = kernel.enter ? kernel.enter() : Kernel::Entered{nullptr, kernel.effect};
  enqueue(stream, {kernel.duration_ns, std::move(run.gate),
                   finish(record, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, std::move(run.effect))});
}

}  // namespace

std::int64_t elementwise_ns(std::int64_t threads) { return 1500 + threads / 100; }
std::int64_t matrix_product_ns(double operations) {
  return 2500 + static_cast<std::int64_t>(operations / 600e3);
}
std::int64_t transfer_ns(std::int64_t bytes, double bytes_per_ns) {
  return 1500 + static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_ns);
}

void launch_kernel(Stream& stream, Kernel kernel) {
  // NCCL calls the driver, everybody else the runtime.
  const LaunchCall call =
      kernel.enter != nullptr
          ? LaunchCall(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx)
          : LaunchCall(CUPTI_ACTIVITY_KIND_RUNTIME,
                       CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000);
  put_in(stream, CU_GRAPH_NODE_TYPE_KERNEL, call.correlation(),
         [kernel = std::move(kernel)](Stream& on, const Launched& launched) {
           run_kernel(kernel, on, launched);
         });
}

void launch_copy(Stream& stream, std::int64_t bytes, CUpti_ActivityMemcpyKind kind,
                 std::function<void()> effect) {
  const auto copy = [bytes, kind, effect = std::move(effect)](Stream& on,
                                                              const Launched& launched) {
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = static_cast<std::uint8_t>(kind);
    record.bytes = static_cast<std::uint64_t>(bytes);
    place(record, on, launched);
    const double bytes_per_ns = kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD ? 1500 : 50;
    enqueue(on, {transfer_ns(bytes, bytes_per_ns), nullptr,
                 finish(record, CUPTI_ACTIVITY_KIND_MEMCPY, effect)});
  };
  put_in(stream, CU_GRAPH_NODE_TYPE_MEMCPY, next_correlation(), copy);
}

void launch_set(Stream& stream, std::int64_t bytes, std::function<void()> effect) {
  const auto set = [bytes, effect = std::move(effect)](Stream& on, const Launched& launched) {
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.bytes = static_cast<std::uint64_t>(bytes);
    place(record, on, launched);
    enqueue(on, {transfer_ns(bytes, 3000), nullptr,
                 finish(record, CUPTI_ACTIVITY_KIND_MEMSET, effect)});
  };
  put_in(stream, CU_GRAPH_NODE_TYPE_MEMSET, next_correlation(), set);
}

void launch_host(Stream& stream, std::function<void()> function) {
  const auto call = [function = std::move(function)](Stream& on, const Launched&) {
    enqueue(on, {.finished = [function](Span) { function(); }});
  };
  put_in(stream, CU_GRAPH_NODE_TYPE_HOST, 0, call);
}

void launch_graph(const Graph& executable, Stream& stream) {
  const LaunchCall call(CUPTI_ACTIVITY_KIND_RUNTIME,
                        CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
  replay(executable, stream, call.correlation());
}

void note_wait(CUpti_ActivitySynchronizationType type, const Stream* stream, Span span) {
  if (!is_wanted(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type;
  record.contextId = 1;
  record.streamId = stream == nullptr ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : stream_id(*stream);
  record.correlationId = next_correlation();
  put_span(record, span);
}

}  // namespace shardlens::fake_gpu
