#include "trace/analysis/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace shardlens::trace {

namespace {
constexpr std::size_t kFewestValues = 4;
}

double student_t_95(double degrees_of_freedom) {
  // Percentage points for 1 to 30 degrees of freedom (any statistics textbook).
  constexpr std::array<double, 30> kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  const double whole = std::floor(std::max(degrees_of_freedom, 1.0));  // down: the cautious side
  if (whole <= static_cast<double>(kTable.size())) {
    return kTable[static_cast<std::size_t>(whole) - 1];
  }
  // Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), good to 0.001 here.
  constexpr double kNormal = 1.959964;
  return kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * degrees_of_freedom);
}

std::optional<MeanEstimate> estimate_mean(const std::vector<double>& series) {
  if (series.size() < kFewestValues) return std::nullopt;
  const auto count = static_cast<double>(series.size());
  const auto size = static_cast<std::size_t>(std::floor(std::cbrt(count) + 1e-9));
  const std::size_t batches = series.size() / size;
  MeanEstimate result;
  for (double value : series) result.mean += value / count;

  std::vector<double> means;
  // The remainder is left out at the start, where a run still settles.
  for (std::size_t begin = series.size() - batches * size; begin < series.size(); begin += size) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + size; ++i) sum += series[i];
    means.push_back(sum / static_cast<double>(size));
  }
  double mean_of_means = 0;
  for (double value : means) mean_of_means += value / static_cast<double>(batches);
  double squares = 0;
  for (double value : means) squares += (value - mean_of_means) * (value - mean_of_means);
  result.degrees_of_freedom = static_cast<double>(batches - 1);
  result.standard_error =
      std::sqrt(squares / result.degrees_of_freedom / static_cast<double>(batches));
  return result;
}

std::optional<MeanEstimate> estimate_reciprocal(double rate,
                                                const std::optional<MeanEstimate>& of_step) {
  if (!of_step || of_step->mean <= 0 || rate <= 0) return std::nullopt;
  return MeanEstimate{1 / rate, of_step->standard_error / of_step->mean / rate,
                      of_step->degrees_of_freedom};
}

std::optional<bool> differ(const std::optional<MeanEstimate>& a,
                           const std::optional<MeanEstimate>& b) {
  if (!a || !b) return std::nullopt;
  const double first = a->standard_error * a->standard_error;
  const double second = b->standard_error * b->standard_error;
  const double difference = std::abs(a->mean - b->mean);
  if (first + second == 0) return difference > 0;
  const double freedom =
      (first + second) * (first + second) /
      (first * first / a->degrees_of_freedom + second * second / b->degrees_of_freedom);
  return difference > student_t_95(freedom) * std::sqrt(first + second);
}

}  // namespace shardlens::trace
