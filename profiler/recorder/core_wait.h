// How long the training thread had to wait for a core because the recorder's threads used it: a
// cost of recording where the job needs all cores. follow() is the training thread's, the rest the
// recorder's.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace shardlens::profiler::recorder {

class CoreWait {
 public:
  // The calling thread is the one that trains.
  void follow() {
    if (thread_.load(std::memory_order_relaxed) == 0) thread_ = gettid();
  }

  // All there was so far; `own_ns`: what the recorder's threads have computed so far. Looks once a
  // second, or `at_once`, since either is known late.
  std::int64_t look(std::int64_t now_ns, std::int64_t own_ns, bool at_once);
  // As look(), but given for how long the training thread has waited for a core so far.
  std::int64_t add(std::int64_t waited_ns, std::int64_t own_ns);

 private:
  std::optional<std::int64_t> waited_so_far() const;

  std::atomic<pid_t> thread_{0};
  std::int64_t looked_ns_ = 0;
  std::int64_t waited_ns_ = -1;  // -1: not known yet
  std::int64_t own_ns_ = 0;
  std::int64_t sum_ns_ = 0;
};

}  // namespace shardlens::profiler::recorder
