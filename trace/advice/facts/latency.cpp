#include "trace/advice/facts/latency.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::advice {

std::optional<LatencyFit> fit_latency(
    const RunFacts& run,
    const std::function<bool(const analysis::CollectiveGroupFigures&)>& counts) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  double smallest = INFINITY, largest = 0;
  for (const auto& row : run.figures.collectives) {
    if (row.matched == 0 || row.bytes <= 0 || !counts(row)) continue;
    const auto weight = static_cast<double>(row.matched);
    const auto bytes = static_cast<double>(row.bytes);
    n += weight;
    x += weight * bytes;
    y += weight * row.transfer_ns;
    xx += weight * bytes * bytes;
    xy += weight * bytes * row.transfer_ns;
    smallest = std::min(smallest, bytes);
    largest = std::max(largest, bytes);
  }
  if (n == 0 || largest < 2 * smallest) return {};
  const double spread = n * xx - x * x;
  if (spread <= 0) return {};
  LatencyFit fit;
  fit.ns_per_byte = (n * xy - x * y) / spread;
  fit.latency_ns = (y - fit.ns_per_byte * x) / n;
  if (fit.ns_per_byte <= 0 || fit.latency_ns <= 0) return {};
  return fit;
}

}  // namespace shardlens::trace::advice
