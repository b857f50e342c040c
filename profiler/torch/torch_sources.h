// What only LibTorch can tell the recorder: operators through at::RecordFunction, and the CPU
// allocator's bytes by category.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "profiler/recorder.h"
#include "trace/model/events.h"
#include "trace/model/result.h"

namespace at {
class Tensor;
}

namespace shardlens::profiler {

// Observes the operators of this process until destroyed. One at a time. The thread that makes it
// is called "main thread".
class OperatorObserver {
 public:
  // Operators are compute where they do the work themselves, not where they only launch kernels.
  explicit OperatorObserver(Recorder& recorder, bool operators_are_compute = true);
  ~OperatorObserver();
  OperatorObserver(const OperatorObserver&) = delete;
  OperatorObserver& operator=(const OperatorObserver&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Replaces the CPU allocator by one that counts bytes by category; call before the first tensor.
// Bytes count for the category that was set on the allocating thread (MemoryCategoryScope), or, if
// none was, for the one of the current phase set by set_default_category.
trace::Result<void> install_cpu_memory_tracker();
void set_default_category(trace::MemoryCategory category);  // process-wide
// Current bytes; `outside` is anonymous resident memory minus what is tracked.
trace::MemorySample sample_cpu_memory();
// Peak composition since the last call.
trace::MemorySample take_cpu_memory_peak();
// The last request that could not be met, and what was allocated then: later, once the exception
// has left the functions that held it, most of it is gone. None if all were met.
struct FailedAllocation {
  std::int64_t asked_bytes = 0;
  trace::MemorySample held;
};
std::optional<FailedAllocation> last_failed_cpu_allocation();
// Moves a live tensor's whole storage to another category (gradients that turn out as such, …).
// A tensor whose memory is not tracked (from_blob, allocated before the tracker) is left alone.
void recategorize(const at::Tensor& tensor, trace::MemoryCategory category);

class MemoryCategoryScope {
 public:
  explicit MemoryCategoryScope(trace::MemoryCategory category);
  ~MemoryCategoryScope();
  MemoryCategoryScope(const MemoryCategoryScope&) = delete;
  MemoryCategoryScope& operator=(const MemoryCategoryScope&) = delete;

 private:
  int previous_;
};

}  // namespace shardlens::profiler
