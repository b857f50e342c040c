// Whether calls in which ranks wait for each other show that these cannot have one clock. One
// owner.
#pragma once

#include <cstdint>

#include "trace/base/saturated.h"
#include "trace/model/events.h"

namespace shardlens::trace::model {

// On no rank before it began on all; a broadcast's root goes on.
constexpr bool ends_after_all_began(CollectiveFunction function) {
  switch (function) {
    case CollectiveFunction::kAllReduce:
    case CollectiveFunction::kReduceScatter:
    case CollectiveFunction::kAllGather:
    case CollectiveFunction::kAllToAll:
    case CollectiveFunction::kBarrier:
      return true;
    default:
      return false;
  }
}

class ClockContradictions {
 public:
  // Of one call: when the first rank had ended it, and when the last one began, each by its own
  // clock.
  void add(std::int64_t first_end_ns, std::int64_t last_start_ns) {
    constexpr std::int64_t kSameNs = 50'000;  // as near as a profiler knows a GPU's times
    ++calls_;
    if (base::saturated_difference(last_start_ns, first_end_ns) > kSameNs) ++contradicting_;
  }
  // In more than a tenth of them, as a few may be matched wrongly.
  bool were_found() const { return 10 * contradicting_ > calls_; }

 private:
  std::int64_t calls_ = 0, contradicting_ = 0;
};

}  // namespace shardlens::trace::model
