#include "trace/analysis/noise/mean_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "trace/analysis/noise/student_t.h"
#include "trace/base/median.h"

namespace shardlens::trace::analysis {

namespace {

constexpr std::size_t kFewestValues = 8;
constexpr double kFewestIndependent = 10;
constexpr std::size_t kFewestBatches = 4;
constexpr double kBatchPerTime = 5;        // length of a batch ÷ τ
constexpr double kWindowPerTime = 3;       // Sokal's c, on his scale of τ ÷ 2
constexpr std::size_t kMostValues = 2048;  // bounds the time that correlations take

// Means of `length` neighbours; what is left over is left out at the start, where a run settles.
std::vector<double> batch_means(const std::vector<double>& values, std::size_t length) {
  std::vector<double> means;
  for (std::size_t begin = values.size() % length; begin < values.size(); begin += length) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const double sum = std::accumulate(first, first + static_cast<std::ptrdiff_t>(length), 0.0);
    means.push_back(sum / static_cast<double>(length));
  }
  return means;
}

double correlation(const std::vector<double>& deviations, std::size_t lag, double squares) {
  double sum = 0;
  for (std::size_t i = lag; i < deviations.size(); ++i) sum += deviations[i] * deviations[i - lag];
  return sum / squares;
}

struct Correlations {
  double time = 1;   // τ, in values
  double drift = 0;  // as in MeanEstimate
};

Correlations correlations_of(const std::vector<double>& values) {
  const double mean = base::mean_of(values);
  std::vector<double> deviations;
  for (double value : values) deviations.push_back(value - mean);
  const double squares =
      std::inner_product(deviations.begin(), deviations.end(), deviations.begin(), 0.0);
  const auto count = static_cast<double>(values.size());
  // All values are the same but for rounding: there is nothing to correlate.
  if (squares <= 1e-24 * mean * mean * count) return {};
  Correlations result;
  double half_time = 0.5;
  std::size_t window = 1;
  for (;; ++window) {
    const double rho = correlation(deviations, window, squares);
    // That of independent values is −1/n ± 1/√n (Bartlett 1946).
    if (window == 1) result.drift = (rho + 1 / count) * std::sqrt(count);
    half_time += rho;
    const bool is_wide = static_cast<double>(window) >= kWindowPerTime * std::max(half_time, 0.5);
    if (is_wide || 2 * window >= values.size()) break;
  }
  const double correction = 1 + (2 * static_cast<double>(window) + 1) / count;
  result.time = 2 * std::max(half_time, 0.5) * correction;
  return result;
}

void add_error(const std::vector<double>& values, MeanEstimate& result) {
  const auto count = static_cast<double>(values.size());
  const Correlations found = correlations_of(values);
  result.drift = found.drift;
  if (count < kFewestIndependent * found.time) return;
  const auto wanted = static_cast<std::size_t>(std::ceil(kBatchPerTime * found.time));
  const auto means = batch_means(values, std::min(wanted, values.size() / kFewestBatches));
  const double mean = base::mean_of(means);
  double squares = 0;
  for (double value : means) squares += (value - mean) * (value - mean);
  result.degrees_of_freedom = static_cast<double>(means.size() - 1);
  result.standard_error =
      std::sqrt(squares / result.degrees_of_freedom / static_cast<double>(means.size()));
}

}  // namespace

std::optional<MeanEstimate> estimate_mean(const std::vector<double>& series) {
  if (series.empty()) return std::nullopt;
  MeanEstimate result;
  result.mean = base::mean_of(series);
  result.count = static_cast<std::int64_t>(series.size());
  if (series.size() < kFewestValues) return result;
  const std::size_t together = (series.size() + kMostValues - 1) / kMostValues;
  add_error(together > 1 ? batch_means(series, together) : series, result);
  return result;
}

double MeanEstimate::half_width(double missed) const {
  return student_t_quantile(missed, degrees_of_freedom) * standard_error;
}

}  // namespace shardlens::trace::analysis
