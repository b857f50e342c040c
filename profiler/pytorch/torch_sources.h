// What only LibTorch can tell the recorder: operators through at::RecordFunction, and what its
// allocators on CPU and GPU give and take, by category.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/memory/memory_category.h"
#include "profiler/recorder/recorder.h"
#include "trace/base/result.h"
#include "trace/model/events.h"

namespace at {
class Tensor;
}

namespace shardlens::profiler::memory {
class AllocationTracker;
}  // namespace shardlens::profiler::memory

namespace shardlens::profiler::pytorch {

// Observes the operators of this process until destroyed; steps without detail cost nothing. To
// know what the others do, it measures LibTorch for some milliseconds when it is made. One at a
// time, made and destroyed by the thread that begins steps, which is called "main thread".
class OperatorObserver {
 public:
  // Operators are compute where they do the work themselves, not where they only launch kernels.
  explicit OperatorObserver(recorder::Recorder& recorder, bool operators_are_compute = true);
  ~OperatorObserver();
  OperatorObserver(const OperatorObserver&) = delete;
  OperatorObserver& operator=(const OperatorObserver&) = delete;

  // The operator for which the calling thread allocates memory now; 0: none that was recorded.
  static trace::model::StringId allocating_operator();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Replaces the CPU allocator by one that counts bytes by category; call before the first tensor.
trace::base::Result<void> install_cpu_memory_tracker();
// Who hooks feed; lives as long as the process.
memory::AllocationTracker& cpu_allocations();
// Current bytes; `outside` is anonymous resident memory minus what is tracked.
trace::model::MemorySample sample_cpu_memory();
// As far as it is counted anyway, with what was outside when it was last sampled: a few atomics.
trace::model::MemorySample cpu_memory_counters();
// Peak composition since the last call.
trace::model::MemorySample take_cpu_memory_peak();

// Listens to the caching allocator of this GPU from now on, once for a device and process; CUDA
// must be initialized. Error: the allocator in use has no such hook.
trace::base::Result<void> install_gpu_memory_tracker(int device);
// Null until it is installed.
memory::AllocationTracker* gpu_allocations();

// Moves a live tensor's whole storage to another category (gradients that turn out as such, …).
// A tensor whose memory is not tracked (from_blob, allocated before the tracker) is left alone.
void recategorize(const at::Tensor& tensor, trace::model::MemoryCategory category);

}  // namespace shardlens::profiler::pytorch
