#include "trace/base/words/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/base/number_text.h"
#include "trace/base/text.h"

namespace shardlens::trace::base {

namespace {

// The minus sign is that of all figures, and none stands before what is shown as zero.
std::string fixed_text(double value, int decimals) {
  const std::string magnitude = formatted("%.*f", decimals, std::abs(value));
  const bool is_zero = magnitude.find_first_of("123456789") == std::string::npos;
  return (value < 0 && !is_zero ? "−" : "") + magnitude;
}

// Rounding first, so that 9.996 becomes "10.0" and not "10.00".
int decimals_for(double magnitude) {
  if (magnitude < 9.995) return 2;
  if (magnitude < 999.95) return 1;
  return 0;
}

double ns_per(std::string_view unit) {
  if (unit == "s") return 1e9;
  return unit == "ms" ? 1e6 : 1e3;
}

Quantity scaled(double value, double base, const std::array<const char*, 5>& units) {
  std::size_t index = 0;
  double shown = value;
  while (std::abs(shown) >= base * 0.99995 && index + 1 < units.size()) {
    shown /= base;
    ++index;
  }
  return {index == 0 ? format_plain(shown) : format_number(shown), units[index]};
}

}  // namespace

std::string format_number(double value) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  const int decimals = decimals_for(std::abs(value));
  if (decimals == 0) return format_integer(std::llround(value));
  return fixed_text(value, decimals);
}

std::string format_integer(std::int64_t value) {
  return value < 0 ? "−" + grouped(-value) : grouped(value);
}

std::string format_plain(double value) {
  if (!std::isfinite(value)) return std::string(kUnknown);
  return formatted("%.4g", value);
}

std::string_view duration_unit(double ns) {
  const double magnitude = std::abs(ns);
  if (magnitude >= 999.95e6) return "s";
  return magnitude >= 999.5e3 || magnitude == 0 ? "ms" : "µs";
}

Quantity format_duration_in(double ns, std::string_view unit) {
  if (!std::isfinite(ns)) return {std::string(kUnknown), ""};
  const double value = ns / ns_per(unit);
  return {value == 0 ? "0" : format_number(value), std::string(unit)};
}

Quantity format_duration(double ns) { return format_duration_in(ns, duration_unit(ns)); }

std::string signed_text(double value, const std::string& magnitude) {
  const bool is_zero = magnitude.find_first_of("123456789") == std::string::npos;
  return (is_zero ? "" : value < 0 ? "−" : "+") + magnitude;
}

std::string format_signed_duration(double ns, std::optional<double> uncertainty_ns) {
  if (!uncertainty_ns) return signed_text(ns, format_duration(std::abs(ns)).text());
  const std::string_view unit = duration_unit(std::max(std::abs(ns), *uncertainty_ns));
  const double uncertainty = *uncertainty_ns / ns_per(unit);
  // Two digits of the uncertainty, and one of a value that is not far below it: "+0.4 s ± 12.3",
  // not "0 s ± 12".
  const auto places_for = [unit](double of_ns, int digits) {
    const double value = std::abs(of_ns) / ns_per(unit);
    return value > 0 ? digits - 1 - std::floor(std::log10(value)) : 0;
  };
  double wanted = *uncertainty_ns > 0 ? places_for(*uncertainty_ns, 2) : 2;
  if (std::abs(ns) >= *uncertainty_ns / 100) wanted = std::max(wanted, places_for(ns, 1));
  const int places = static_cast<int>(std::clamp(wanted, 0.0, 2.0));
  return signed_text(ns, fixed_text(std::abs(ns) / ns_per(unit), places)) + " " +
         std::string(unit) + " ± " + fixed_text(uncertainty, places);
}

std::string one_digit_fewer(const std::string& number) {
  const auto point = number.find('.');
  if (point == std::string::npos) return number;
  return fixed_text(std::stod(number), static_cast<int>(number.size() - point) - 2);
}

Quantity format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return {std::string(kUnknown), ""};
  Quantity result = scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
  if (result.unit == "B") result.value = format_integer(std::llround(bytes));
  // "147 MiB" reads better than "147.0 MiB" and has three digits.
  if (result.value.size() == 5 && result.value[3] == '.') {
    double value = bytes;
    for (auto unit : {"KiB", "MiB", "GiB", "TiB"}) {
      value /= 1024;
      if (result.unit == unit) break;
    }
    result.value = fixed_text(value, 0);
  }
  return result;
}

std::string duration_text(std::int64_t ns) {
  return format_duration(static_cast<double>(ns)).text();
}

std::string bytes_text(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes)).text();
}

Quantity format_count(double count) { return scaled(count, 1000, {"", "k", "M", "G", "T"}); }

Quantity format_rate(double per_second, std::string_view unit) {
  Quantity result = format_count(per_second);
  if (result.unit.empty()) result.value = format_number(per_second);
  // "k/s", but "k tokens/s".
  if (!result.unit.empty() && !unit.starts_with('/')) result.unit += ' ';
  result.unit += unit;
  return result;
}

Quantity format_bandwidth(double bytes_per_second) {
  if (bytes_per_second > 0 && bytes_per_second < 0.9995e6) {
    return {format_number(bytes_per_second / 1e3), "kB/s"};
  }
  if (bytes_per_second > 0 && bytes_per_second < 0.9995e9) {
    return {format_number(bytes_per_second / 1e6), "MB/s"};
  }
  return {format_number(bytes_per_second / 1e9), "GB/s"};
}

Quantity format_percent(double fraction) {
  const double percent = fraction * 100;
  if (!std::isfinite(percent)) return {std::string(kUnknown), ""};
  if (percent != 0 && std::abs(percent) < 0.05) return {percent > 0 ? "< 0.1" : "> −0.1", "%"};
  return {fixed_text(percent, std::abs(percent) < 9.95 && percent != 0 ? 1 : 0), "%"};
}

std::string format_signed_percent(double fraction) {
  const std::string percent = fixed_text(std::abs(fraction) * 100, 1);
  const bool is_none = percent == fixed_text(0, 1);
  return (is_none ? "" : fraction > 0 ? "+" : "−") + percent + " %";
}

}  // namespace shardlens::trace::base
