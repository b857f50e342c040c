#include "trace/tuning/reduction_costs.h"

#include <algorithm>
#include <utility>

#include "trace/job/schedule.h"

namespace shardlens::trace::tuning {

namespace {

// Of an all-reduce by Gloo between two ranks of one machine (2 cores, 0.5 to 8 MiB, 40 steps each).
constexpr double kGlooLatencyNs = 0.5e6, kGlooNsPerByte = 2;

// To 16 bits and back, per byte of fp32 (LibTorch 2.11, one core of an EPYC, 0.25 to 16 MiB).
constexpr double kCastingNsPerByte = 0.2;

double casting_ns(const job::Settings& settings) {
  return settings.communication_hook == job::CommunicationHook::kNone ? 0 : kCastingNsPerByte;
}

double moved_bytes(const job::Settings& settings, double gradient_bytes) {
  const bool halves = settings.communication_hook != job::CommunicationHook::kNone;
  return halves ? gradient_bytes / 2 : gradient_bytes;
}

// docs/NUMBERS.md, "A simulated link": an all-reduce of n ranks; 0 without one.
double link_ns(const job::Settings& settings, int ranks, double bytes) {
  const auto link = job::parse_simulated_link(settings.simulate_link);
  if (!link || !*link) return 0;
  const double factor = 2.0 * (ranks - 1) / ranks;
  return (*link)->latency_us * 1e3 + 8 * bytes * factor / (*link)->gbps;
}

}  // namespace

ReductionCosts::ReductionCosts(const job::Settings& recorded, int ranks,
                               predict::TransferCosts costs)
    : recorded_(recorded), ranks_(ranks), costs_(std::move(costs)) {}

std::optional<ReductionCosts::Cost> ReductionCosts::of(const job::Settings& next,
                                                       double gradient_bytes) const {
  const double bytes = moved_bytes(next, gradient_bytes);
  const auto measured = costs_.of(bytes);
  if (!measured) return std::nullopt;
  const double before = link_ns(recorded_, ranks_, bytes), after = link_ns(next, ranks_, bytes);
  Cost cost{*measured, 0};
  // A simulated link's time is a lower bound: what a transfer took beyond it stays.
  cost.transfer.ns =
      before > 0 ? std::max(0.0, measured->ns - before) + after : std::max(measured->ns, after);
  // Nobody computes for a link; what the backend itself needs then is not recorded.
  const double own = before > 0 ? kGlooLatencyNs + kGlooNsPerByte * bytes : measured->ns;
  cost.working_ns = std::min(own, cost.transfer.ns);
  if (next.communication_hook != recorded_.communication_hook) {
    // Sums of another type take another time, which no transfer of the run tells.
    cost.transfer.is_extrapolated = true;
    const double more = gradient_bytes * (casting_ns(next) - casting_ns(recorded_));
    cost.transfer.ns = std::max(0.0, cost.transfer.ns + more);
  }
  return cost;
}

}  // namespace shardlens::trace::tuning
