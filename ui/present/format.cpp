#include "ui/present/format.h"

#include <array>
#include <cinttypes>
#include <cmath>
#include <ctime>

#include "trace/base/number_text.h"

namespace shardlens::ui::present {

using trace::base::formatted;

namespace {

std::tm local_time(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm result{};
  localtime_r(&seconds, &result);
  return result;
}

std::string format_time(std::int64_t realtime_ns, const char* pattern) {
  const std::tm time = local_time(realtime_ns);
  std::array<char, 64> buffer{};
  const auto size = std::strftime(buffer.data(), buffer.size(), pattern, &time);
  return {buffer.data(), size};
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string format_seconds_left(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "";
  if (seconds < 90) return formatted("%.0f s left", std::ceil(seconds));
  if (seconds < 5400) return formatted("%.0f min left", std::round(seconds / 60));
  return formatted("%.1f h left", seconds / 3600);
}

bool is_date(std::int64_t realtime_ns) {
  constexpr std::int64_t kYear2000 = 946'684'800;
  return realtime_ns >= kYear2000 * 1'000'000'000;
}

std::string format_when(std::int64_t realtime_ns) {
  const auto day = [](std::int64_t ns) { return format_time(ns, "%F"); };
  const auto now_ns = static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000;
  return format_time(realtime_ns, day(realtime_ns) == day(now_ns) ? "%H:%M" : "%m-%d %H:%M");
}

std::string format_date(std::int64_t realtime_ns) {
  return format_time(realtime_ns, "%Y-%m-%d %H:%M:%S");
}

std::string format_elapsed(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) seconds = 0;
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole >= 3600) {
    return formatted("%" PRId64 ":%02" PRId64 ":%02" PRId64, whole / 3600, whole / 60 % 60,
                     whole % 60);
  }
  const auto tenths = static_cast<std::int64_t>(seconds * 10);
  return formatted("%" PRId64 ":%02" PRId64 ".%" PRId64, tenths / 600, tenths / 10 % 60,
                   tenths % 10);
}

namespace {

// The longest that fits: `cut` gives the text with so many of its `size` bytes.
template <typename Cut>
std::string longest_cut(std::size_t size, float width, const Measure& measure, const Cut& cut) {
  if (measure("…") > width) return "";
  std::size_t low = 0, high = size;  // bytes kept: low fits, high does not
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    (measure(cut(middle)) <= width ? low : high) = middle;
  }
  const std::string result = cut(low);
  return result == "…" ? "" : result;
}

}  // namespace

std::string elide(std::string_view text, float width, const Measure& measure) {
  if (measure(text) <= width) return std::string(text);
  return longest_cut(text.size(), width, measure, [&](std::size_t bytes) {
    while (bytes > 0 && is_continuation(text[bytes])) --bytes;
    while (bytes > 0 && text[bytes - 1] == ' ') --bytes;
    return std::string(text.substr(0, bytes)) + "…";
  });
}

std::string elide_start(std::string_view text, float width, const Measure& measure) {
  if (measure(text) <= width) return std::string(text);
  return longest_cut(text.size(), width, measure, [&](std::size_t bytes) {
    std::size_t begin = text.size() - bytes;
    while (begin < text.size() && is_continuation(text[begin])) ++begin;
    return "…" + std::string(text.substr(begin));
  });
}

std::string elide_middle(std::string_view text, float width, const Measure& measure) {
  if (measure(text) <= width) return std::string(text);
  return longest_cut(text.size(), width, measure, [&](std::size_t bytes) {
    std::size_t end = bytes - bytes / 2, begin = text.size() - bytes / 2;
    while (end > 0 && is_continuation(text[end])) --end;
    while (begin < text.size() && is_continuation(text[begin])) ++begin;
    return std::string(text.substr(0, end)) + "…" + std::string(text.substr(begin));
  });
}

}  // namespace shardlens::ui::present
