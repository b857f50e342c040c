#include "trace/predict/costs/core_delay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "trace/base/median.h"

namespace shardlens::trace::predict {

namespace {

constexpr double kLeastVariation = 2;  // as of four calls beside computation, four without
constexpr double kSure = 3;            // standard errors

double beyond(double wait_ns, double least_ns) { return wait_ns * std::exp(-least_ns / wait_ns); }

// The mean wait of which so much goes beyond a link's time, on which that depends monotonically.
double wait_of(double beyond_ns, double least_ns) {
  double low = beyond_ns, high = beyond_ns + least_ns;
  while (beyond(high, least_ns) < beyond_ns) high *= 2;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (beyond(middle, least_ns) < beyond_ns ? low : high) = middle;
  }
  return high;
}

// Sums over transfers, each less the mean of its like.
struct Deviations {
  double beside_beside = 0, beside_ns = 0, ns_ns = 0;
  double least_ns = 0;  // by their weight in the slope
  double freedom = -1;

  void add(const std::vector<ObservedTransfer>& alike) {
    const auto count = static_cast<double>(alike.size());
    const double mean_beside = base::sum_of(alike, &ObservedTransfer::beside) / count;
    const double mean_ns = base::sum_of(alike, &ObservedTransfer::ns) / count;
    for (const ObservedTransfer& each : alike) {
      const double beside = each.beside - mean_beside, ns = each.ns - mean_ns;
      beside_beside += beside * beside;
      beside_ns += beside * ns;
      ns_ns += ns * ns;
      least_ns += beside * beside * each.least_ns;
    }
    freedom += count - 1;
  }
};

}  // namespace

CoreDelay CoreDelay::fit(const std::vector<ObservedTransfer>& transfers) {
  std::map<std::pair<CollectiveKind, std::int64_t>, std::vector<ObservedTransfer>> alike;
  for (const ObservedTransfer& each : transfers) alike[{each.kind, each.bytes}].push_back(each);
  Deviations sums;
  for (const auto& [of, some] : alike) sums.add(some);
  if (sums.beside_beside < kLeastVariation || sums.freedom < 1) return {};
  const double slope = sums.beside_ns / sums.beside_beside;
  const double rest = std::max(0.0, sums.ns_ns - slope * sums.beside_ns) / sums.freedom;
  if (slope <= kSure * std::sqrt(rest / sums.beside_beside)) return {};
  CoreDelay delay;
  const double least_ns = sums.least_ns / sums.beside_beside;
  delay.wait_ns_ = wait_of(slope, least_ns);
  delay.behind_ns_ = least_ns;
  return delay;
}

double CoreDelay::ns(double least_ns) const {
  return exists() ? beyond(wait_ns_, std::max(least_ns, behind_ns_)) : 0;
}

MeasuredCollectives CoreDelay::without(const std::vector<ObservedTransfer>& transfers) const {
  MeasuredCollectives measured;
  for (const ObservedTransfer& each : transfers) {
    measured[each.kind][static_cast<double>(each.bytes)].push_back(each.ns -
                                                                   each.beside * ns(each.least_ns));
  }
  return measured;
}

}  // namespace shardlens::trace::predict
