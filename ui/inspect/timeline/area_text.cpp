#include "ui/inspect/timeline/area_text.h"

#include <algorithm>
#include <cmath>

#include "ui/present/format.h"

namespace shardlens::ui {

std::string area_value_text(double value, const std::string& unit) {
  if (unit == "bytes") return format_bytes(value).text();
  if (unit == "bytes/s") return format_bandwidth(value).text();
  if (unit == "%") return format_percent(value / 100).text();
  // As the device tells them: whole, or nearly.
  if (unit == "W" || unit == "MHz" || unit == "°C") {
    return format_integer(std::llround(std::clamp(value, -1e15, 1e15))) + " " + unit;
  }
  if (unit == "share") return format_percent(value).text() + " of the time";
  return format_number(value) + (unit.empty() ? "" : " " + unit);
}

}  // namespace shardlens::ui
