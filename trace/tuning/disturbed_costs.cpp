#include "trace/tuning/disturbed_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/model/events.h"
#include "trace/predict/costs/gpu_turns.h"

namespace shardlens::trace::tuning {

using predict::CollectiveCosts;
using predict::CollectiveKind;

namespace {

using Delays = std::map<double, double>;  // nanoseconds, by bytes

// Apart from the run. A calibration begins with sizes whose bytes cost nothing.
std::optional<predict::TransferCosts::Cost> alone(const CollectiveCosts& apart,
                                                  const CollectiveKind& kind, double bytes) {
  const auto found = apart.measured().find(kind);
  if (found == apart.measured().end() || found->second.empty()) return std::nullopt;
  return apart.of(kind, std::max(bytes, found->second.begin()->first));
}

// Of one kind, at the sizes that the run has.
Delays delays_of(const CollectiveCosts& run, const CollectiveCosts& apart,
                 const CollectiveKind& kind) {
  const auto own = run.measured().find(kind);
  Delays delays;
  if (own == run.measured().end()) return delays;
  for (const auto& [bytes, times] : own->second) {
    const auto undisturbed = alone(apart, kind, bytes);
    const auto disturbed = run.of(kind, bytes);
    if (disturbed && undisturbed) delays[bytes] = std::max(0.0, disturbed->ns - undisturbed->ns);
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

// Smaller than all sizes of the run: how much less than the smallest one a transfer takes apart.
double share_of_smallest(const Delays& delays, const CollectiveCosts& apart,
                         const CollectiveKind& kind, double bytes) {
  const double smallest = delays.begin()->first;
  if (bytes >= smallest) return 1;
  const auto own = alone(apart, kind, bytes), of_smallest = alone(apart, kind, smallest);
  if (!own || !of_smallest || of_smallest->ns <= 0) return 1;
  return std::min(1.0, own->ns / of_smallest->ns);
}

// What a transfer waits for a core, however small it is: a slice or two of Linux's scheduler.
constexpr double kLongestWaitNs = 4e6;

// As a transfer of the run is, which takes 1 / `share` times as long apart: by a wait that each
// has, and by what grows with its time. How much of that a smaller one has is not sure: none, or
// twice its part.
void hold_up(std::vector<double>& times, double delay_ns, double share) {
  const double wait_ns = std::min(delay_ns, kLongestWaitNs);
  const double part_ns = (delay_ns - wait_ns) * share;
  const double unsure_ns = share < 1 ? part_ns : 0;
  std::vector<double> longer;
  for (const double time : times) {
    const double likeliest_ns = time + wait_ns + part_ns;
    longer.push_back(likeliest_ns - unsure_ns);
    if (unsure_ns > 0) longer.push_back(likeliest_ns + unsure_ns);
  }
  times = std::move(longer);
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
      hold_up(times, ratio * delay_at(delays, bytes),
              share_of_smallest(delays, apart, kind, bytes));
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
