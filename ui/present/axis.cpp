#include "ui/present/axis.h"

#include <algorithm>
#include <cmath>

#include "ui/present/format.h"

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

SizeUnit size_unit(double most) {
  if (most >= 1024.0 * 1024 * 1024) return {1024.0 * 1024 * 1024, "GiB"};
  if (most >= 1024.0 * 1024) return {1024.0 * 1024, "MiB"};
  return {1024.0, "KiB"};
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

std::string round_time_text(double ns) {
  const std::string_view unit = duration_unit(ns);
  const double length_ns = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : 1e3;
  return format_plain(ns / length_ns) + " " + std::string(unit);
}

std::vector<Tick> time_ticks(const ValueScale& ns, int count) {
  std::vector<Tick> ticks;
  const auto unit = duration_unit(ns.high());
  for (const double at : nice_ticks(ns.low(), ns.high(), count)) {
    ticks.push_back({ns.of(at), format_duration_in(at, unit).text()});
  }
  return ticks;
}

std::vector<Tick> size_ticks(const ValueScale& bytes, int count) {
  std::vector<Tick> ticks;
  const double step = nice_binary_step(bytes.high() - bytes.low(), count);
  for (double at = std::ceil(bytes.low() / step) * step; at <= bytes.high(); at += step) {
    ticks.push_back({bytes.of(at), format_bytes(at).text()});
  }
  return ticks;
}

}  // namespace shardlens::ui::present
