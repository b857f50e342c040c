#include "trace/predict/costs/gpu_turns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "trace/base/median.h"
#include "trace/model/traffic.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::size_t kCalls = 4;       // that tell whether times vary
constexpr double kSmallestBytes = 1e6;  // less may go through within one slice
constexpr double kSteady = 0.05;        // between a tenth and nine tenths of the calls
constexpr std::size_t kSizes = 3;
constexpr int kMostOfOne = 4;  // rounds of the one that tells how long they are
// By how much of a round a transfer may end earlier or later than with one, and where rounds are
// many, of their number.
constexpr double kClose = 0.06, kCloseOfMany = 0.02;
// One that begins within a slice is over earlier: one of so many sizes may be.
constexpr double kEarly = 0.3;
constexpr std::size_t kSizesForAnEarlyOne = 4;
constexpr double kMostRounds = 40;  // that are told apart

// Of one size.
struct Point {
  double bytes = 0, ns = 0;  // that a rank sends, and the median
};

double sent_bytes(const CollectiveKind& kind, double bytes) {
  return bytes * model::bus_factor(kind.function, kind.ranks);
}

std::vector<Point> steady_points(const MeasuredCollectives& measured) {
  std::vector<Point> points;
  for (const auto& [kind, transfers] : measured) {
    for (const auto& [bytes, unsorted] : transfers) {
      const double sent = sent_bytes(kind, bytes);
      if (unsorted.size() < kCalls || sent < kSmallestBytes) continue;
      std::vector<double> times = unsorted;
      std::ranges::sort(times);
      const double median = base::quantile(times, 0.5);
      const double range = base::quantile(times, 0.9) - base::quantile(times, 0.1);
      if (median > 0 && range <= kSteady * median) points.push_back({sent, median});
    }
  }
  return points;
}

// The longest first: parts of it fit as well.
std::vector<double> possible_rounds(const std::vector<Point>& points) {
  std::vector<double> rounds;
  for (const Point& point : points) {
    for (int parts = 1; parts <= kMostOfOne; ++parts) rounds.push_back(point.ns / parts);
  }
  std::ranges::sort(rounds, std::ranges::greater());
  return rounds;
}

double rounds_of(const Point& point, double round_ns) {
  return std::max(1.0, std::round(point.ns / round_ns));
}

bool are_multiples(const std::vector<Point>& points, double round_ns) {
  std::size_t early = 0;
  for (const Point& point : points) {
    const double beyond = point.ns / round_ns - rounds_of(point, round_ns);
    const double close = std::max(kClose, kCloseOfMany * point.ns / round_ns);
    if (beyond > close || beyond < -std::max(kEarly, close)) return false;
    if (beyond < -close) ++early;
  }
  return early * kSizesForAnEarlyOne <= points.size();
}

// By least squares.
double fitted_round_ns(const std::vector<Point>& points, double about_ns) {
  double products = 0, squares = 0;
  for (const Point& point : points) {
    const double rounds = rounds_of(point, about_ns);
    if (point.ns / about_ns < rounds - kClose) continue;
    products += point.ns * rounds;
    squares += rounds * rounds;
  }
  return products > 0 ? products / squares : about_ns;
}

}  // namespace

std::optional<GpuTurns> GpuTurns::find(const MeasuredCollectives& measured) {
  const std::vector<Point> points = steady_points(measured);
  if (points.size() < kSizes) return std::nullopt;
  for (const double round_ns : possible_rounds(points)) {
    if (!are_multiples(points, round_ns)) continue;
    GpuTurns turns;
    turns.round_ns_ = fitted_round_ns(points, round_ns);
    turns.most_bytes_ = std::numeric_limits<double>::infinity();
    for (const Point& point : points) {
      const double rounds = rounds_of(point, turns.round_ns_);
      if (rounds > kMostRounds) continue;
      turns.least_bytes_ = std::max(turns.least_bytes_, point.bytes / rounds);
      if (rounds > 1) turns.most_bytes_ = std::min(turns.most_bytes_, point.bytes / (rounds - 1));
    }
    if (std::isfinite(turns.most_bytes_) && turns.least_bytes_ < turns.most_bytes_) return turns;
  }
  return std::nullopt;
}

auto GpuTurns::of(CollectiveKind kind, double bytes) const -> std::optional<TransferCosts::Cost> {
  const double sent = sent_bytes(kind, bytes);
  if (sent < kSmallestBytes) return std::nullopt;
  const double most = std::ceil(sent / least_bytes_) * round_ns_;
  const double least = std::max(1.0, std::ceil(sent / most_bytes_)) * round_ns_;
  return TransferCosts::Cost{.ns = (least + most) / 2,
                             .spread_ns = kClose * round_ns_,
                             .is_extrapolated = true,
                             .unsure_ns = (most - least) / 2};
}

}  // namespace shardlens::trace::predict
