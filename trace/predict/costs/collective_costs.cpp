#include "trace/predict/costs/collective_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
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

constexpr double kSameSize = 1.1;
constexpr double kApart = 2;                    // sizes that tell a slope
constexpr double kLeast = 1 / 16.0, kMost = 4;  // of the outermost sizes
constexpr double kLeastWithoutSlope = 1 / 4.0;
constexpr double kFar = 16;  // sizes between which others may lie that are not as both

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

TransferCosts::TransferCosts(const MeasuredTransfers& measured) {
  std::vector<std::size_t> single;  // points
  for (auto size = measured.begin(); size != measured.end();) {
    const double smallest = size->first;
    double sum = 0;
    std::vector<double> times;
    for (; size != measured.end() && size->first <= smallest * kSameSize; ++size) {
      sum += size->first * static_cast<double>(size->second.size());
      times.insert(times.end(), size->second.begin(), size->second.end());
    }
    if (times.empty()) continue;
    std::ranges::sort(times);
    const auto count = static_cast<double>(times.size());
    points_.push_back({sum / count, base::mean_of(times),
                       (base::quantile(times, 0.75) - base::quantile(times, 0.25)) / 2});
    if (times.size() == 1) single.push_back(points_.size() - 1);
  }
  for (const std::size_t i : single) points_[i].spread_ns = spread_of_nearest(i, single);
}

// In proportion. 0: nothing was measured more than once.
double TransferCosts::spread_of_nearest(std::size_t point,
                                        const std::vector<std::size_t>& single) const {
  const Point& own = points_[point];
  double least = std::numeric_limits<double>::infinity(), spread_ns = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& other = points_[i];
    const double apart = std::abs(std::log(std::max(other.bytes, 1.0) / std::max(own.bytes, 1.0)));
    if (std::ranges::binary_search(single, i) || apart >= least) continue;
    least = apart;
    spread_ns = other.spread_ns / std::max(other.mean_ns, 1.0) * own.mean_ns;
  }
  return spread_ns;
}

// Between two points as much as the one that was measured there, else in between.
double TransferCosts::spread_at(double bytes, const Point& before, const Point& next) {
  if (bytes <= before.bytes * kSameSize) return before.spread_ns;
  if (bytes * kSameSize >= next.bytes) return next.spread_ns;
  return std::lerp(before.spread_ns, next.spread_ns,
                   (bytes - before.bytes) / (next.bytes - before.bytes));
}

// Half of it, which is as likely to be there as not; between sizes that are far apart. `next`: the
// first point behind `bytes`. Time that bytes do not explain (another protocol or algorithm from
// some size on) makes the way there steeper than the way on, and nothing tells from which size on
// it counts, but not for sizes that are not apart from the point before.
double TransferCosts::half_jump_ns(double bytes, double line_ns, std::size_t next) const {
  const Point &begin = points_[next - 1], &end = points_[next];
  if (end.bytes < begin.bytes * kFar) return 0;
  const auto is_apart = [&](const Point& p) { return p.bytes >= end.bytes * kApart; };
  const auto further =
      std::find_if(points_.begin() + static_cast<std::ptrdiff_t>(next), points_.end(), is_apart);
  if (further == points_.end()) return 0;
  const double slope = (further->mean_ns - end.mean_ns) / (further->bytes - end.bytes);
  const double back_ns = end.mean_ns - std::max(0.0, slope) * (end.bytes - bytes);
  const double from_apart = std::log(bytes / begin.bytes) / std::log(kApart) - 1;
  return std::max(0.0, back_ns - line_ns) / 2 * std::clamp(from_apart, 0.0, 1.0);
}

bool TransferCosts::measures(double bytes) const {
  return std::ranges::any_of(points_, [&](const Point& point) {
    return bytes <= point.bytes * kSameSize && bytes * kSameSize >= point.bytes;
  });
}

auto TransferCosts::of(double bytes) const -> std::optional<Cost> {
  const std::vector<Point>& all = points_;
  if (all.empty() || bytes < all.front().bytes * kLeast || bytes > all.back().bytes * kMost) {
    return std::nullopt;
  }
  const auto next = std::ranges::find_if(all, [&](const Point& p) { return p.bytes >= bytes; });
  const auto line = [&](const Point& a, const Point& b) {
    return a.mean_ns + (bytes - a.bytes) * (b.mean_ns - a.mean_ns) / (b.bytes - a.bytes);
  };
  if (next != all.begin() && next != all.end()) {
    const Point& before = *(next - 1);
    const double line_ns = line(before, *next);
    const double half_jump =
        half_jump_ns(bytes, line_ns, static_cast<std::size_t>(next - all.begin()));
    return Cost{line_ns + half_jump, std::hypot(spread_at(bytes, before, *next), half_jump), false};
  }
  const bool is_below = next == all.begin();
  const Point& edge = is_below ? all.front() : all.back();
  const bool is_near = bytes <= edge.bytes * kSameSize && bytes * kSameSize >= edge.bytes;
  const auto is_apart = [&](const Point& p) {
    return is_below ? p.bytes >= edge.bytes * kApart : p.bytes <= edge.bytes / kApart;
  };
  const Point* other = nullptr;
  if (is_below) {
    const auto found = std::ranges::find_if(all, is_apart);
    other = found == all.end() ? nullptr : &*found;
  } else {
    const auto found = std::find_if(all.rbegin(), all.rend(), is_apart);
    other = found == all.rend() ? nullptr : &*found;
  }
  if (other == nullptr && is_near) return Cost{edge.mean_ns, edge.spread_ns, false};
  if (other == nullptr) {
    const double share = bytes / edge.bytes;
    if (share < kLeastWithoutSlope) return std::nullopt;
    return Cost{edge.mean_ns * (1 + share) / 2, edge.spread_ns, true,
                edge.mean_ns * std::abs(1 - share) / 2};
  }
  // More bytes never take less time, whatever noise says.
  const double ns = is_below ? std::min(edge.mean_ns, line(edge, *other))
                             : std::max(edge.mean_ns, line(edge, *other));
  return Cost{std::max(0.0, ns), edge.spread_ns, !is_near};
}

}  // namespace shardlens::trace::predict
