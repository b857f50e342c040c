#include "trace/analysis/figures/recording_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trace/analysis/figures/distribution.h"
#include "trace/analysis/figures/run_summary.h"

namespace shardlens::trace::analysis {

namespace {

constexpr std::size_t kFewestOfAKind = 8;  // of either kind
constexpr std::int64_t kMostCounted = std::int64_t{1} << 56;

struct Center {
  double median = 0;
  double standard_error = 0;
};

// The median, since a step with a checkpoint or an evaluation would hide everything else.
Center center_of(const std::vector<double>& times) {
  Center center;
  center.median = distribution_of(times).median;
  std::vector<double> deviations;
  for (const double time : times) deviations.push_back(std::abs(time - center.median));
  // Of normal samples: the standard deviation by the median deviation, and the error of a median.
  const double deviation = 1.4826 * distribution_of(std::move(deviations)).median;
  center.standard_error = 1.2533 * deviation / std::sqrt(static_cast<double>(times.size()));
  return center;
}

double mean_step_ns(const StepFigures& step) {
  double sum = 0;
  for (const StepBreakdown& rank : step.ranks) sum += static_cast<double>(rank.step_ns);
  return sum / step.rank_count();
}

}  // namespace

double slowdown(double cost_ns, double time_ns) {
  // The cost is an estimate and may come out too high: the job itself took a tenth at the least.
  const double rest = std::max(time_ns - cost_ns, time_ns / 10);
  return rest > 0 ? cost_ns / rest : 0;
}

std::optional<double> measured_slowdown(const std::vector<StepFigures>& steps) {
  std::vector<double> with, without;
  for (const StepFigures& step : steps) {
    if (!is_measured(step) || step.awaits_detail()) continue;
    (has_detail(step) ? with : without).push_back(mean_step_ns(step));
  }
  if (with.size() < kFewestOfAKind || without.size() < kFewestOfAKind) return std::nullopt;
  const Center detailed = center_of(with), plain = center_of(without);
  const double difference = detailed.median - plain.median;
  if (difference <= 2 * std::hypot(detailed.standard_error, plain.standard_error)) {
    return std::nullopt;
  }
  const double time = std::accumulate(with.begin(), with.end(), 0.0) +
                      std::accumulate(without.begin(), without.end(), 0.0);
  return slowdown(difference * static_cast<double>(with.size()), time);
}

void RecorderReports::set(const model::RecorderCost& cost) { costs_[cost.rank] = cost; }

int RecorderReports::add(const model::Lost& lost) {
  if (lost.count < 0 || lost.count > kMostCounted) return 1;
  losses_[{lost.rank, lost.reason}] += lost.count;
  return 0;
}

std::optional<model::RecorderCost> RecorderReports::cost_of(int rank) const {
  const auto found = costs_.find(rank);
  return found == costs_.end() ? std::nullopt : std::optional(found->second);
}

RecorderFigures RecorderReports::figures(std::span<const std::int64_t> step_times_ns,
                                         const std::vector<StepFigures>& steps, bool on_gpu) const {
  RecorderFigures result;
  for (const auto& [key, count] : losses_) {
    result.losses.push_back({key.first, key.second, count});
    result.lost += count;
  }
  double overhead = 0, measured_ranks = 0;
  for (const auto& [rank, cost] : costs_) {
    result.events =
        result.events.value_or(0) + std::clamp<std::int64_t>(cost.events, 0, kMostCounted);
    const std::int64_t time_ns = step_times_ns[static_cast<std::size_t>(rank)];
    if (time_ns <= 0 || cost.callback_ns == model::kNotKnown) continue;
    overhead += slowdown(static_cast<double>(cost.callback_ns), static_cast<double>(time_ns));
    ++measured_ranks;
  }
  if (measured_ranks > 0) result.overhead_fraction = overhead / measured_ranks;
  // Steps of other recorders lack detail for other reasons.
  const bool is_ours = result.events.has_value();
  if (const auto measured = measured_slowdown(steps); is_ours && measured) {
    result.overhead_fraction = measured;
    result.overhead_is_measured = true;
  }
  result.overhead_is_least =
      on_gpu && result.overhead_fraction.has_value() && result.events.value_or(0) > 0;
  return result;
}

}  // namespace shardlens::trace::analysis
