#include "ui/present/axis.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::present {

double nice_step(double span, int count) {
  if (!(span > 0) || count < 1) return 1;
  const double raw = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> nice_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(high > low)) return ticks;
  const double step = nice_step(high - low, count);
  const auto first = static_cast<long long>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(high / step + 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

double nice_binary_step(double span, int count) {
  if (!(span > 0) || count < 1) return 1;
  return std::exp2(std::ceil(std::log2(span / count) - 1e-9));
}

void ValueScale::add(double value) {
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

void ValueScale::settle() {
  const double middle = (low_ + high_) / 2;
  const double half = std::max(high_ - low_, least_range_ * middle) * (0.5 + margin_);
  low_ = std::max(0.0, middle - half);
  high_ = middle + half;
}

}  // namespace shardlens::ui::present
