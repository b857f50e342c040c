// Numbers as they are read on screen and in reports: value and unit apart, three or four
// significant digits, units chosen by size. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardlens::trace::base {

struct Quantity {
  std::string value;
  std::string unit;
  std::string text() const { return unit.empty() ? value : value + " " + unit; }
};

inline constexpr std::string_view kUnknown = "–";

// "7.25", "42.1", "236.4", "1,204": two decimals below 10, one below 1000.
std::string format_number(double value);
// "1.1" for "1.13", "42" for "42.1"; what has no decimals stays.
std::string one_digit_fewer(const std::string& number);
// "4,812"
std::string format_integer(std::int64_t value);
// As needed: "25", "0.5", "1.25"
std::string format_plain(double value);

Quantity format_duration(double ns);         // µs, ms or s
std::string duration_text(std::int64_t ns);  // the same as one text: "4.20 ms"
// "+4.20 ms" of "4.20 ms": with the sign of `value`; none where all that is shown is 0.
std::string signed_text(double value, const std::string& magnitude);
// "+4.2 ms ± 1.6": an uncertainty with two digits, and what it is of to the same place; "+4.20 ms"
// where it is not known.
std::string format_signed_duration(double ns, std::optional<double> uncertainty_ns = std::nullopt);
Quantity format_duration_in(double ns, std::string_view unit);  // one unit for a whole axis
std::string_view duration_unit(double ns);   // the unit that format_duration would take
Quantity format_bytes(double bytes);         // B, KiB, MiB, GiB or TiB
std::string bytes_text(std::int64_t bytes);  // the same as one text: "147 MiB"
Quantity format_rate(double per_second, std::string_view unit);  // "138.7" "k/s"
Quantity format_count(double count);                             // "10.2" "M"
Quantity format_bandwidth(double bytes_per_second);  // GB/s, 10⁹; below 0.01 of it MB/s or kB/s
Quantity format_percent(double fraction);            // "67" "%"
std::string format_signed_percent(double fraction);  // "+14.6 %", "−0.2 %"

}  // namespace shardlens::trace::base
