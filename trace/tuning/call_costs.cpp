#include "trace/tuning/call_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/job/shape/strategy.h"
#include "trace/model/events.h"
#include "trace/model/traffic.h"
#include "trace/predict/costs/gpu_turns.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::tuning {

using model::CollectiveFunction;
using predict::CollectiveCosts;
using predict::CollectiveKind;

namespace {

// Of an all-reduce by Gloo between two ranks of one machine (2 cores, 0.5 to 8 MiB, 40 steps each).
constexpr double kGlooLatencyNs = 0.5e6, kGlooNsPerByte = 2;

// To 16 bits and back, per byte of fp32 (LibTorch 2.11, one core of an EPYC, 0.25 to 16 MiB).
constexpr double kCastingNsPerByte = 0.2;

// 0 without a link.
double link_share(const CallCosts::Conditions& on, const CallCosts::Group& group) {
  if (!on.link || group.ranks < 2) return 0;
  const std::int64_t apart =
      group.are_replicas ? std::max<std::int64_t>(1, on.ranks / group.ranks) : 1;
  return static_cast<double>(job::link_share(*on.link, {group.ranks, apart}, on.ranks));
}

// docs/NUMBERS.md, "A simulated link"; 0 where none is passed. Latency leaves it to others.
double busy_link_ns(const CallCosts::Conditions& on, CollectiveFunction function,
                    const CallCosts::Group& group, double bytes) {
  const double share = link_share(on, group);
  if (share == 0) return 0;
  return 8 * bytes * model::bus_factor(function, group.ranks) * share / on.link->gbit_per_s;
}
double whole_link_ns(const CallCosts::Conditions& on, CollectiveFunction function,
                     const CallCosts::Group& group, double bytes) {
  if (link_share(on, group) == 0) return 0;
  return on.link->latency_us * 1e3 + busy_link_ns(on, function, group, bytes);
}

// Of a part of the ranks only replicas sum up more than a value.
CallCosts::Group usual_group(const CallCosts::Conditions& on, const predict::CollectiveKind& kind) {
  return {kind.ranks, kind.function == CollectiveFunction::kAllReduce && kind.ranks < on.ranks};
}

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

CallCosts::CallCosts(const job::Settings& recorded, predict::CollectiveCosts measured,
                     Backend backend, std::optional<predict::GpuTurns> turns,
                     const predict::CoreDelay& core_delay)
    : recorded_(conditions(recorded)),
      costs_(std::move(measured)),
      backend_(backend),
      turns_(turns),
      core_delay_(core_delay) {}

CallCosts CallCosts::preceded_by(const predict::CollectiveCosts& costs) const {
  CallCosts all = *this;
  all.costs_ = costs.filled_from(costs_);
  all.core_delay_ = {};
  return all;
}

CollectiveFunction CallCosts::executed(CollectiveFunction function, Backend backend) {
  const bool sums_all = backend == Backend::kGloo && function == CollectiveFunction::kReduceScatter;
  return sums_all ? CollectiveFunction::kAllReduce : function;
}

double CallCosts::own_ratio(const predict::CollectiveKind& kind,
                            const predict::CollectiveKind& measured, Backend backend) {
  const auto factor = [&](const predict::CollectiveKind& each) {
    return model::bus_factor(executed(each.function, backend), each.ranks);
  };
  const double before = factor(measured);
  return before > 0 ? factor(kind) / before : 1;
}

auto CallCosts::conditions(const job::Settings& settings) -> Conditions {
  const auto link = job::parse_simulated_link(settings.simulate_link);
  const bool has_units = job::strategy_traits(settings.sharding_strategy).has_units;
  const bool compresses =
      !has_units && settings.communication_hook != job::CommunicationHook::kNone;
  const predict::ElementBytes bytes = predict::element_bytes(settings);
  return {.link = link ? *link : std::nullopt,
          .ranks = settings.ranks,
          .value_bytes = compresses ? 2 : bytes.reduced,
          .casts = compresses || bytes.reduced != bytes.gathered};
}

auto CallCosts::Conditions::of_other_calls(const Conditions& recorded) const -> Conditions {
  Conditions others = *this;
  others.value_bytes = recorded.value_bytes;
  others.casts = recorded.casts;
  return others;
}

auto CallCosts::source_of(CollectiveFunction function, int ranks, double bytes) const
    -> std::optional<Source> {
  if (turns_ && !costs_.measures({function, ranks}, bytes)) {
    const auto cost = turns_->of({function, ranks}, bytes);
    if (cost) return Source{function, ranks, *cost};
  }
  std::optional<Source> unsure;
  for (const CollectiveFunction each :
       {function, CollectiveFunction::kAllReduce, CollectiveFunction::kReduceScatter,
        CollectiveFunction::kAllGather}) {
    std::vector<int> by_distance;
    for (const auto& [kind, transfers] : costs_.measured()) {
      if (kind.function == each) by_distance.push_back(kind.ranks);
    }
    std::ranges::stable_sort(by_distance, {}, [&](int group) { return std::abs(group - ranks); });
    for (const int group : by_distance) {
      const auto cost = costs_.of({each, group}, bytes);
      if (!cost) continue;
      if (cost->unsure_ns == 0) return Source{each, group, *cost};
      if (!unsure) unsure = Source{each, group, *cost};
    }
  }
  return unsure;
}

double CallCosts::link_ns(const Conditions& recorded, const predict::CollectiveKind& kind,
                          double bytes) {
  return busy_link_ns(recorded, kind.function, usual_group(recorded, kind), bytes);
}

double CallCosts::least_ns(const Conditions& recorded, const predict::CollectiveKind& kind,
                           double bytes) {
  return whole_link_ns(recorded, kind.function, usual_group(recorded, kind), bytes);
}

auto CallCosts::of(const Conditions& next, CollectiveFunction function, Group group,
                   double bytes) const -> std::optional<Cost> {
  const int ranks = group.ranks;
  if (ranks < 2) return Cost{};
  const auto source = source_of(function, ranks, bytes);
  if (!source) return std::nullopt;
  const bool is_same = source->function == function && source->ranks == ranks;
  const double ratio =
      is_same ? 1 : own_ratio({function, ranks}, {source->function, source->ranks}, backend_);
  Group measured = usual_group(recorded_, {source->function, source->ranks});
  if (is_same) measured.are_replicas = group.are_replicas;
  const double before = whole_link_ns(recorded_, source->function, measured, bytes);
  const double after = whole_link_ns(next, function, group, bytes);
  Cost cost{.transfer = source->cost,
            .link_ns = busy_link_ns(next, function, group, bytes),
            .least_ns = after};
  // A simulated link's time is a lower bound: what a transfer took beyond it stays.
  // On a CPU that is computation, too. What all ranks of such a job moved was measured on its share
  // of the cores; of a group of them it was when fewer or more shared these.
  const double slower = source->ranks == next.ranks ? 1 : next.slower;
  const double own = slower * ratio * std::max(0.0, source->cost.ns - before);
  const double hidden = before > 0 ? slower * ratio * hidden_ns(*source, bytes) : 0;
  cost.is_link_faster = before == 0 && after > 0 && after < own;
  const double undelayed = before > 0 ? own + after : std::max(own, after);
  const double delay = slower * core_delay_ns(after, undelayed);
  cost.transfer.ns = std::max(undelayed + delay, hidden);
  cost.core_delay_ns = cost.transfer.ns - std::max(undelayed, hidden);
  cost.transfer.unsure_ns *= slower * ratio;
  cost.transfer.is_extrapolated =
      source->cost.is_extrapolated || !is_same || slower != 1 || hidden > own + after;
  cost.working_ns =
      working_ns({function, ranks}, bytes,
                 before > 0 ? cost.transfer.ns : std::min(own + delay, cost.transfer.ns));
  if (before > 0) cost.working_ns = std::min(slower * cost.working_ns, cost.transfer.ns);
  if (next.value_bytes != recorded_.value_bytes) {
    // Sums of another type take another time, which no transfer of the run tells.
    cost.transfer.is_extrapolated = true;
  }
  // A GPU casts within its memory's bandwidth, which is nothing beside a link's.
  if (next.casts != recorded_.casts && backend_ == Backend::kGloo) {
    const double fp32_bytes = 4 * bytes / static_cast<double>(next.value_bytes);
    const double more = (next.casts ? 1 : -1) * kCastingNsPerByte * fp32_bytes;
    cost.transfer.ns = std::max(after, cost.transfer.ns + more);
  }
  return cost;
}

// As hold_up() has it: of one that takes less than those that were seen to wait only a slice or two
// are sure.
double CallCosts::core_delay_ns(double least_ns, double undelayed_ns) const {
  const double all_ns = core_delay_.ns(least_ns), behind_ns = core_delay_.observed_behind_ns();
  const double wait_ns = std::min(all_ns, kLongestWaitNs);
  return wait_ns +
         (all_ns - wait_ns) * (behind_ns > 0 ? std::min(1.0, undelayed_ns / behind_ns) : 1);
}

// While a link takes longer, nothing tells it of a transfer.
double CallCosts::hidden_ns(const Source& source, double bytes) const {
  if (backend_ != Backend::kGloo) return 0;
  return working_ns({source.function, source.ranks}, bytes, source.cost.ns);
}

// Nobody computes for a link; what the backend itself needs then is not recorded.
double CallCosts::working_ns(const predict::CollectiveKind& kind, double bytes,
                             double transfer_ns) const {
  if (link_share(recorded_, usual_group(recorded_, kind)) == 0) return transfer_ns;
  const double own =
      kGlooLatencyNs + kGlooNsPerByte * bytes *
                           model::bus_factor(executed(kind.function, backend_), kind.ranks) /
                           model::bus_factor(CollectiveFunction::kAllReduce, 2);
  return std::min(own, transfer_ns);
}

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
  const auto link_ns = [&](const auto& kind, double bytes) {
    return CallCosts::link_ns(conditions, kind, bytes);
  };
  const auto observed = recorded.observed_transfers(link_ns, [&](const auto& kind, double bytes) {
    return CallCosts::least_ns(conditions, kind, bytes);
  });
  const auto delay = predict::CoreDelay::fit(observed);
  const CollectiveCosts run(delay.exists() ? delay.without(observed) : recorded.transfers(link_ns));
  const auto turns = info.shared_gpu ? predict::GpuTurns::find(run.measured()) : std::nullopt;
  const auto disturbed = [&](const CollectiveCosts& apart) {
    return disturbed_as(run, untold_by(turns, apart), backend);
  };
  const CollectiveCosts others(recorded.other_transfers());
  return {settings, run.filled_from(disturbed(known)).filled_from(disturbed(others)), backend,
          turns, delay};
}

}  // namespace shardlens::trace::tuning
