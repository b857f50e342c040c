// CUDA's calls about streams and events.
#include <cuda_runtime_api.h>

#include <chrono>
#include <thread>

#include "tests/fake_gpu/cuda/capture.h"
#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cupti/activity.h"
#include "tests/fake_gpu/cupti/counters.h"

using namespace shardlens::fake_gpu;

namespace {

constexpr std::chrono::microseconds kPoll{20};

const Event& event_of(cudaEvent_t event) { return *reinterpret_cast<const Event*>(event); }

// Whether it may be asked how far it is.
cudaError_t check_event(const Event& event) {
  return is_captured(event) ? cudaErrorCapturedEvent : check_capture_modes();
}

template <typename Done>
cudaError_t wait_until(Done done, CUpti_ActivitySynchronizationType type, const Stream* stream) {
  counters().host_waits++;
  begin_held_back();
  Span span{now_ns(), 0};
  while (!done()) std::this_thread::sleep_for(kPoll);
  span.end_ns = now_ns();
  note_wait(type, stream, span);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  *stream = reinterpret_cast<cudaStream_t>(create_stream(current_device(), priority));
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  destroy_stream(&stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = stream_priority(stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = refuse_capturing(stream_of(stream))) return failed(error);
  return is_done(stream_of(stream)) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Stream& waited = stream_of(stream);
  if (const cudaError_t error = refuse_capturing(waited)) return failed(error);
  return wait_until([&] { return is_done(waited); },
                    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, &waited);
}
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = refuse_capturing_on(current_device())) return failed(error);
  return wait_until([] { return is_device_done(current_device()); },
                    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, nullptr);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const auto captured = capture_wait(stream_of(stream), event_of(event)))
    return failed(*captured);
  wait(stream_of(stream), event_of(event));
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  launch_host(stream_of(stream), [function, data] { function(data); });
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  launch_host(stream_of(stream), [stream, callback, data] { callback(stream, cudaSuccess, data); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(create_event());
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  forget_captured(event_of(event));
  destroy_event(reinterpret_cast<Event*>(event));
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  Event& recorded = *reinterpret_cast<Event*>(event);
  if (!capture_record(recorded, stream_of(stream))) record(recorded, stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = check_event(event_of(event))) return failed(error);
  return is_done(event_of(event)) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = check_event(event_of(event))) return failed(error);
  return wait_until([event] { return is_done(event_of(event)); },
                    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, nullptr);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!is_done(event_of(start)) || !is_done(event_of(end))) return failed(cudaErrorNotReady);
  *milliseconds =
      static_cast<float>(reached_ns(event_of(end)) - reached_ns(event_of(start))) / 1e6F;
  return cudaSuccess;
}

}  // extern "C"
