// The simulated network link of one rank: all of its process groups send over it, so that what one
// transfers makes the others wait. Any thread.
#pragma once

#include <chrono>
#include <mutex>

#include "trace/job/schedule.h"
#include "trainer/comm/collective_description.h"

namespace shardlens::trainer::comm {

class SharedLink {
 public:
  using Clock = std::chrono::steady_clock;  // one clock for all processes of a machine

  explicit SharedLink(const trace::job::SimulatedLink& link) : link_(link) {}

  // Takes the link for a collective that the last of `world_size` ranks started at `start`; returns
  // when it will have been transferred. Latency delays it but leaves the link to others.
  Clock::time_point transfer(Clock::time_point start, const CollectiveDescription& collective,
                             int world_size);

 private:
  trace::job::SimulatedLink link_;
  std::mutex mutex_;
  Clock::time_point free_at_{};
};

}  // namespace shardlens::trainer::comm
