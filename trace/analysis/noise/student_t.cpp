#include "trace/analysis/noise/student_t.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardlens::trace::analysis {

namespace {

constexpr double kMostFreedom = 2000;  // beyond it t and the normal distribution are one

}  // namespace

double student_t_p(double t, double degrees_of_freedom) {
  // Finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
  // Sums of parts are whole but for rounding.
  const int freedom = static_cast<int>(std::clamp(degrees_of_freedom + 1e-6, 1.0, kMostFreedom));
  const double angle = std::atan(std::abs(t) / std::sqrt(freedom));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool is_odd = freedom % 2 != 0;
  double term = is_odd ? cosine : 1;
  double sum = freedom > 1 ? term : 0;
  for (int k = is_odd ? 3 : 2; k < freedom; k += 2) {
    term *= cosine * cosine * (k - 1) / k;
    sum += term;
  }
  const double within = is_odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return std::clamp(1 - within, 0.0, 1.0);
}

double student_t_quantile(double p, double degrees_of_freedom) {
  double low = 0, high = 1;
  while (student_t_p(high, degrees_of_freedom) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (student_t_p(middle, degrees_of_freedom) > p ? low : high) = middle;
  }
  return high;
}

}  // namespace shardlens::trace::analysis
