// Who gets what the joins of GPU activity have put together. The flush thread only.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/cupti/api/activity.h"

namespace shardlens::profiler::cupti {

// A communication kernel that a CUDA graph replayed.
struct ReplayedKernel {
  std::uint64_t launch = 0;  // that was marked when it was captured
  std::int64_t place = -1;   // see CollectiveReplay
  std::int64_t number = -1;
  std::int64_t called_ns = 0;  // when the host asked for the replay; the kernel's start if unknown
  KernelActivity kernel;
};

class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  virtual void kernel(const KernelActivity& kernel) = 0;
  virtual void copy(const CopyActivity& copy) = 0;
  virtual void launch(const LaunchActivity& launch) = 0;
  virtual void wait(const WaitActivity& wait) = 0;
  // A communication kernel and the launch that was marked around it. It is a kernel() too.
  virtual void launched_kernel(std::uint64_t launch, const KernelActivity& kernel) = 0;
  virtual void replayed_kernel(const ReplayedKernel& replay) = 0;  // as well
  // A record without a start, or that ends before it starts.
  virtual void bad_timestamps() = 0;
  // Records whose counterpart did not come.
  virtual void unmatched(std::int64_t count) = 0;
};

// All that a kernel's name can be trusted with: "…_RING_LL" is what NCCL calls its kernel, whatever
// it really does.
inline bool is_communication(std::string_view mangled_name) {
  return mangled_name.find("nccl") != std::string_view::npos;
}

}  // namespace shardlens::profiler::cupti
