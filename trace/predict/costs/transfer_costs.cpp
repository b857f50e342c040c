#include "trace/predict/costs/transfer_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "trace/base/median.h"

namespace shardlens::trace::predict {

namespace {

constexpr double kSameSize = 1.1;
constexpr double kApart = 2;                    // sizes that tell a slope
constexpr double kLeast = 1 / 16.0, kMost = 4;  // of the outermost sizes
constexpr double kLeastWithoutSlope = 1 / 4.0;
constexpr double kFar = 16;  // sizes between which others may lie that are not as both

}  // namespace

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
  double widest = 0;
  for (const Point& p : points_) widest = std::max(widest, p.spread_ns / std::max(p.mean_ns, 1.0));
  for (const std::size_t i : single) points_[i].spread_ns = widest * points_[i].mean_ns;
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
    return Cost{line_ns + half_jump,
                std::hypot(std::max(before.spread_ns, next->spread_ns), half_jump), false};
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
