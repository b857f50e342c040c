#include "trace/tuning/disturbed_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "trace/model/events.h"
#include "trace/predict/costs/gpu_turns.h"

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

// What was measured apart from steps knows nothing of the turns in which ranks get a GPU there.
CollectiveCosts untold_by(const std::optional<predict::GpuTurns>& turns,
                          const CollectiveCosts& costs) {
  if (!turns) return costs;
  predict::MeasuredCollectives rest = costs.measured();
  for (auto& [kind, transfers] : rest) {
    std::erase_if(transfers, [&](const auto& size) { return turns->of(kind, size.first); });
  }
  return CollectiveCosts(std::move(rest));
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

CallCosts costs_of_run(const model::RunInfo& info, const job::Settings& settings,
                       const predict::RecordedSteps& recorded, const CollectiveCosts& known) {
  const auto backend =
      info.device == "cuda" ? CallCosts::Backend::kNccl : CallCosts::Backend::kGloo;
  const CallCosts::Conditions conditions = CallCosts::conditions(settings);
  const CollectiveCosts run(recorded.transfers(
      [&](const auto& kind, double bytes) { return CallCosts::link_ns(conditions, kind, bytes); }));
  const auto turns = info.shared_gpu ? predict::GpuTurns::find(run.measured()) : std::nullopt;
  const auto disturbed = [&](const CollectiveCosts& apart) {
    return disturbed_as(run, untold_by(turns, apart), backend);
  };
  const CollectiveCosts others(recorded.other_transfers());
  return {settings, run.filled_from(disturbed(known)).filled_from(disturbed(others)), backend,
          turns};
}

}  // namespace shardlens::trace::tuning
