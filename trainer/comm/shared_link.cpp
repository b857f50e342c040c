#include "trainer/comm/shared_link.h"

#include <algorithm>

namespace shardlens::trainer::comm {

SharedLink::Clock::time_point SharedLink::transfer(Clock::time_point start,
                                                   const CollectiveDescription& collective,
                                                   int world_size) {
  const std::lock_guard lock(mutex_);
  free_at_ = std::max(free_at_, start) + transfer_time(link_, collective, world_size);
  return free_at_ + latency(link_, world_size);
}

}  // namespace shardlens::trainer::comm
