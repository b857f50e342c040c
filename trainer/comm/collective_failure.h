// What a rank says of a collective that failed, whichever backend ran it. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "trace/model/events.h"
#include "trainer/comm/collective_description.h"

namespace shardlens::trainer::comm {

// "collective 57 (all_reduce of …) failed on rank 0: <reason>"; the rank is that of the world.
std::string failure_text(const CollectiveDescription& description, int world_rank,
                         const std::string& reason);

// The reason where the collective was waited for in vain.
std::string timeout_reason(std::chrono::milliseconds timeout);

// A collective whose end never came.
struct CollectiveTimeout {
  std::int64_t step = -1;  // in which it was asked for; -1: outside of steps
  trace::base::Phase phase = trace::base::Phase::kOther;
  std::string text;
};
using OnCollectiveTimeout = std::function<void(const CollectiveTimeout& timeout)>;

}  // namespace shardlens::trainer::comm
