#include "trace/analysis/figures/traffic.h"

namespace shardlens::trace::analysis {

double bus_factor(model::CollectiveFunction function, int n) {
  const double part = n > 1 ? static_cast<double>(n - 1) / n : 0;
  switch (function) {
    case model::CollectiveFunction::kAllReduce:
      return 2 * part;
    case model::CollectiveFunction::kAllGather:
    case model::CollectiveFunction::kReduceScatter:
    case model::CollectiveFunction::kAllToAll:
      return part;
    case model::CollectiveFunction::kBroadcast:
    case model::CollectiveFunction::kReduce:
    case model::CollectiveFunction::kSend:
    case model::CollectiveFunction::kReceive:
      return 1;
    case model::CollectiveFunction::kBarrier:
    case model::CollectiveFunction::kOther:
      return 0;
  }
  return 0;
}

double sent_factor(model::CollectiveFunction function, int n) {
  switch (function) {
    case model::CollectiveFunction::kBroadcast:
    case model::CollectiveFunction::kReduce:
      return n > 1 ? static_cast<double>(n - 1) / n : 0;
    case model::CollectiveFunction::kReceive:
      return 0;
    default:
      return bus_factor(function, n);
  }
}

}  // namespace shardlens::trace::analysis
