// The part of KinetoRank that leaves out what cannot have happened when it says.
#include <algorithm>

#include "trace/interop/kineto_rank.h"

namespace shardlens::trace {

void KinetoRank::leave_out_unbelievable() {
  times_.choose();
  first_ns_ = INT64_MAX;
  last_ns_ = INT64_MIN;
  const auto leaves = [&](std::int64_t start_ns, std::int64_t end_ns) {
    const std::string_view objection = times_.objection(start_ns, end_ns);
    if (!objection.empty()) {
      leave_out(std::string(objection));
      return true;
    }
    first_ns_ = std::min(first_ns_, start_ns);
    last_ns_ = std::max(last_ns_, end_ns);
    return false;
  };
  for (auto& [key, events] : runs_) {
    std::erase_if(events, [&](const Event& e) { return leaves(e.start_ns, e.end_ns()); });
  }
  std::erase_if(runs_, [](const auto& run) { return run.second.empty(); });
  std::erase_if(annotations_, [&](const Annotation& a) { return leaves(a.start_ns, a.end_ns); });
  // Their kernels, and allocations, were counted above.
  std::erase_if(collectives_, [&](const Call& call) {
    const auto& event = call.event;
    const bool is_kernel = event.category == KinetoCategory::kKernel;
    const std::int64_t end_ns = event.start_ns + event.duration_ns;
    return is_kernel ? !times_.objection(event.start_ns, end_ns).empty()
                     : leaves(event.start_ns, end_ns);
  });
  std::erase_if(rows_.memory, [&](const MemorySample& sample) {
    return !times_.objection(sample.time_ns, sample.time_ns).empty();
  });
}

}  // namespace shardlens::trace
