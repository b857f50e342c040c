// What CollectiveScope leaves for the backend's thread to find. c10 carries it there; a C++
// thread_local would not arrive.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <cstdint>

namespace shardlens::profiler {

// Nothing else in a rank uses this kind.
inline constexpr c10::DebugInfoKind kCollectiveTagKind = c10::DebugInfoKind::PRODUCER_INFO;

class CollectiveTagInfo : public c10::DebugInfoBase {
 public:
  explicit CollectiveTagInfo(std::uint64_t handle) : handle_(handle) {}

  // The handle for the first span inside the scope; 0 for any further one, which is a collective of
  // its own.
  std::uint64_t claim() { return claimed_.exchange(true) ? 0 : handle_; }

 private:
  const std::uint64_t handle_;
  std::atomic<bool> claimed_{false};
};

}  // namespace shardlens::profiler
