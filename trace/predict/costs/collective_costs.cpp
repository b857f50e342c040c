#include "trace/predict/costs/collective_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trace/base/median.h"

namespace shardlens::trace::predict {

namespace {

constexpr double kCovered = 2;  // a size tells of others up to this many times as large or small

using Means = std::map<double, double>;  // by size

std::vector<double> in_order(std::vector<double> times) {
  std::ranges::sort(times);
  return times;
}

Means means_of(const MeasuredTransfers& measured) {
  Means means;
  for (const auto& [bytes, times] : measured) {
    if (!times.empty()) means[bytes] = base::mean_of(times);
  }
  return means;
}

bool is_covered(const Means& own, double bytes) {
  const auto from = own.lower_bound(bytes / kCovered);
  return from != own.end() && from->first <= bytes * kCovered;
}

double held_between(const Means& own, double bytes, double ns) {
  double least = 0, most = std::numeric_limits<double>::infinity();
  for (const auto& [size, mean] : own) {
    if (size < bytes) least = std::max(least, mean);
    if (size > bytes) most = std::min(most, mean);
  }
  return least <= most ? std::clamp(ns, least, most) : least;
}

void fill(MeasuredTransfers& own, const MeasuredTransfers& calibration) {
  const Means means = means_of(own);
  for (const auto& [bytes, times] : calibration) {
    if (times.empty() || is_covered(means, bytes)) continue;
    const double mean = base::mean_of(times);
    const double shift = held_between(means, bytes, mean) - mean;
    std::vector<double>& filled = own[bytes];
    for (const double time : times) filled.push_back(std::max(0.0, time + shift));
  }
}

}  // namespace

std::vector<CostRow> rows_of(const MeasuredCollectives& measured) {
  std::vector<CostRow> rows;
  for (const auto& [kind, transfers] : measured) {
    for (const auto& [bytes, unsorted] : transfers) {
      if (unsorted.empty()) continue;
      const std::vector<double> times = in_order(unsorted);
      CostRow row{kind,
                  std::llround(bytes),
                  static_cast<std::int64_t>(times.size()),
                  base::quantile(times, 0.5),
                  std::nullopt,
                  std::nullopt};
      if (times.size() > 1) {
        row.lower_quartile_ns = base::quantile(times, 0.25);
        row.upper_quartile_ns = base::quantile(times, 0.75);
      }
      rows.push_back(row);
    }
  }
  return rows;
}

MeasuredCollectives measured_from(const std::vector<CostRow>& rows) {
  MeasuredCollectives measured;
  for (const CostRow& row : rows) {
    std::vector<double>& times = measured[row.kind][static_cast<double>(row.bytes)];
    times.push_back(row.median_ns);
    if (!row.lower_quartile_ns || !row.upper_quartile_ns) continue;
    for (const double each : {*row.lower_quartile_ns, *row.upper_quartile_ns}) {
      times.insert(times.end(), 2, each);
    }
  }
  return measured;
}

CollectiveCosts::CollectiveCosts(MeasuredCollectives measured) : measured_(std::move(measured)) {
  for (const auto& [kind, transfers] : measured_) costs_.emplace(kind, TransferCosts(transfers));
}

const TransferCosts* CollectiveCosts::find(CollectiveKind kind) const {
  const auto found = costs_.find(kind);
  return found == costs_.end() ? nullptr : &found->second;
}

std::optional<TransferCosts::Cost> CollectiveCosts::of(CollectiveKind kind, double bytes) const {
  const TransferCosts* const costs = find(kind);
  return costs == nullptr ? std::nullopt : costs->of(bytes);
}

bool CollectiveCosts::measures(CollectiveKind kind, double bytes) const {
  const TransferCosts* const costs = find(kind);
  return costs != nullptr && costs->measures(bytes);
}

CollectiveCosts CollectiveCosts::filled_from(const CollectiveCosts& calibration) const {
  MeasuredCollectives all = measured_;
  for (const auto& [kind, transfers] : calibration.measured_) fill(all[kind], transfers);
  return CollectiveCosts(std::move(all));
}

}  // namespace shardlens::trace::predict
