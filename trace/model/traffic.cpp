#include "trace/model/traffic.h"

namespace shardlens::trace::model {

double bus_factor(CollectiveFunction function, int n) {
  const double part = n > 1 ? static_cast<double>(n - 1) / n : 0;
  switch (function) {
    case CollectiveFunction::kAllReduce:
      return 2 * part;
    case CollectiveFunction::kAllGather:
    case CollectiveFunction::kReduceScatter:
    case CollectiveFunction::kAllToAll:
      return part;
    case CollectiveFunction::kBroadcast:
    case CollectiveFunction::kReduce:
    case CollectiveFunction::kSend:
    case CollectiveFunction::kReceive:
      return 1;
    case CollectiveFunction::kBarrier:
    case CollectiveFunction::kOther:
      return 0;
  }
  return 0;
}

double sent_factor(CollectiveFunction function, int n) {
  switch (function) {
    case CollectiveFunction::kBroadcast:
    case CollectiveFunction::kReduce:
      return n > 1 ? static_cast<double>(n - 1) / n : 0;
    case CollectiveFunction::kReceive:
      return 0;
    default:
      return bus_factor(function, n);
  }
}

}  // namespace shardlens::trace::model
