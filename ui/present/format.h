// Numbers and texts as they are read on screen: value and unit apart, three or four significant
// digits, units chosen by size. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "trace/base/words/quantity.h"

namespace shardlens::ui::present {

using trace::base::bytes_text;
using trace::base::duration_text;
using trace::base::duration_unit;
using trace::base::format_bandwidth;
using trace::base::format_bytes;
using trace::base::format_count;
using trace::base::format_duration;
using trace::base::format_duration_in;
using trace::base::format_integer;
using trace::base::format_number;
using trace::base::format_percent;
using trace::base::format_plain;
using trace::base::format_rate;
using trace::base::format_signed_percent;
using trace::base::kUnknown;
using trace::base::one_digit_fewer;
using trace::base::Quantity;

std::string format_seconds_left(double seconds);  // "38 s left", "4 min left"
// Traces of other programs may count from the start of the machine, which is no date.
bool is_date(std::int64_t realtime_ns);
std::string format_when(std::int64_t realtime_ns);  // local "13:47", of another day "11-20 13:47"
std::string format_date(std::int64_t realtime_ns);  // local "2026-11-20 14:02:11"
std::string format_elapsed(double seconds);         // "0:38.4", "1:04:07"

// Cuts `text` so that it measures at most `width`, with "…" at the end; "" if not even that fits.
using Measure = std::function<float(std::string_view)>;
std::string elide(std::string_view text, float width, const Measure& measure);
// The same with "…" at the beginning: a path's end tells most.
std::string elide_start(std::string_view text, float width, const Measure& measure);
// In the middle: names of kernels begin alike and differ at their ends.
std::string elide_middle(std::string_view text, float width, const Measure& measure);

}  // namespace shardlens::ui::present
