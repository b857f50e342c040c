#include "trace/tuning/disturbed_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "trace/model/events.h"

namespace shardlens::trace::tuning {

using predict::CollectiveCosts;
using predict::CollectiveKind;

namespace {

using Delays = std::map<double, double>;  // nanoseconds, by bytes

// Of one kind, at the sizes that the run has.
Delays delays_of(const CollectiveCosts& run, const CollectiveCosts& apart,
                 const CollectiveKind& kind) {
  const auto own = run.measured().find(kind);
  const auto found = apart.measured().find(kind);
  Delays delays;
  if (own == run.measured().end() || found == apart.measured().end()) return delays;
  const predict::MeasuredTransfers& others = found->second;
  if (others.empty()) return delays;
  for (const auto& [bytes, times] : own->second) {
    // A calibration begins with sizes whose bytes cost nothing.
    const auto alone = apart.of(kind, std::max(bytes, others.begin()->first));
    const auto disturbed = run.of(kind, bytes);
    if (disturbed && alone) delays[bytes] = std::max(0.0, disturbed->ns - alone->ns);
  }
  return delays;
}

double delay_at(const Delays& delays, double bytes) {
  const auto above = delays.lower_bound(bytes);
  if (above == delays.end()) return delays.rbegin()->second;
  if (above == delays.begin()) return above->second;
  const auto below = std::prev(above);
  return std::lerp(below->second, above->second,
                   (bytes - below->first) / (above->first - below->first));
}

}  // namespace

CollectiveCosts disturbed_as(const CollectiveCosts& run, const CollectiveCosts& apart,
                             CallCosts::Backend backend) {
  predict::MeasuredCollectives all = apart.measured();
  for (auto& [kind, transfers] : all) {
    Delays delays = delays_of(run, apart, kind);
    double ratio = 1;
    if (delays.empty()) {
      const CollectiveKind sum{model::CollectiveFunction::kAllReduce, kind.ranks};
      delays = delays_of(run, apart, sum);
      ratio = CallCosts::own_ratio(kind, sum, backend);
    }
    if (delays.empty()) continue;
    for (auto& [bytes, times] : transfers) {
      for (double& time : times) time += ratio * delay_at(delays, bytes);
    }
  }
  return CollectiveCosts(std::move(all));
}

}  // namespace shardlens::trace::tuning
