// Numbers and texts as they are read on screen: value and unit apart, three or four significant
// digits, units chosen by size. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace shardlens::ui {

struct Quantity {
  std::string value;
  std::string unit;
  std::string text() const { return unit.empty() ? value : value + " " + unit; }
};

inline constexpr std::string_view kUnknown = "–";

// "7.25", "42.1", "236.4", "1,204": two decimals below 10, one below 1000.
std::string format_number(double value);
// "4,812"
std::string format_integer(std::int64_t value);
// As needed: "25", "0.5", "1.25"
std::string format_plain(double value);

Quantity format_duration(double ns);                            // µs, ms or s
Quantity format_duration_in(double ns, std::string_view unit);  // one unit for a whole axis
std::string_view duration_unit(double ns);  // the unit that format_duration would take
Quantity format_bytes(double bytes);        // B, KiB, MiB, GiB or TiB
Quantity format_rate(double per_second, std::string_view unit);  // "138.7" "k/s"
Quantity format_count(double count);                             // "10.2" "M"
Quantity format_bandwidth(double bytes_per_second);              // GB/s, 10⁹
Quantity format_percent(double fraction);                        // "67" "%"
std::string format_signed_percent(double fraction);              // "+14.6 %", "−0.2 %"
std::string format_seconds_left(double seconds);                 // "38 s left", "4 min left"
std::string format_clock(std::int64_t realtime_ns);              // local "13:47"
std::string format_date(std::int64_t realtime_ns);               // local "2026-11-20 14:02:11"
std::string format_elapsed(double seconds);                      // "0:38.4", "1:04:07"

// Cuts `text` so that it measures at most `width`, with "…" at the end; "" if not even that fits.
using Measure = std::function<float(std::string_view)>;
std::string elide(std::string_view text, float width, const Measure& measure);

}  // namespace shardlens::ui
