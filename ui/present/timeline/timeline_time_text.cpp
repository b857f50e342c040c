#include "ui/present/timeline/timeline_time_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute;
// More ticks than any screen has room for come from a fault.
constexpr int kMostTicks = 400;

struct AxisUnit {
  std::int64_t ns;
  const char* name;
};
constexpr std::array<AxisUnit, 4> kAxisUnits{
    AxisUnit{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {kSecond, "s"}};

// A step of a few seconds reads as milliseconds all along.
AxisUnit axis_unit(std::int64_t magnitude) {
  AxisUnit best = kAxisUnits[0];
  for (const AxisUnit& unit : kAxisUnits) {
    if (magnitude >= (unit.ns == kSecond ? 10 * kSecond : unit.ns)) best = unit;
  }
  return best;
}

int decimals_of(std::int64_t unit_ns, std::int64_t step_ns) {
  int decimals = 0;
  for (std::int64_t part = unit_ns; part > 1 && part > step_ns; part /= 10) ++decimals;
  return decimals;
}

std::string two_digits(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

// "1:02:30", "12:30"
std::string clock_text(std::int64_t ns) {
  const std::int64_t seconds = ns / kSecond, hours = seconds / 3600, minutes = seconds / 60 % 60;
  const std::string end = ":" + two_digits(seconds % 60);
  if (hours == 0) return std::to_string(minutes) + end;
  return std::to_string(hours) + ":" + two_digits(minutes) + end;
}

std::string in_unit(std::int64_t ns, const AxisUnit& unit, std::int64_t step_ns) {
  const std::int64_t magnitude = ns < 0 ? -ns : ns;
  std::string text = std::to_string(magnitude / unit.ns);
  std::string rest = std::to_string(magnitude % unit.ns);
  const auto width = static_cast<std::size_t>(std::lround(std::log10(unit.ns)));
  if (rest.size() < width) rest.insert(0, width - rest.size(), '0');
  rest.resize(std::min(rest.size(), static_cast<std::size_t>(decimals_of(unit.ns, step_ns))));
  if (unit.ns == 1) rest.clear();
  if (!rest.empty()) text += "." + rest;
  return (ns < 0 ? "−" : "") + text + " " + unit.name;
}

// 1, 2 or 5 times a power of ten; from a minute on, what clocks are divided by.
std::int64_t axis_step(double span, int most) {
  const double least = span / std::max(most, 1);
  for (std::int64_t power = 1; power <= 10 * kSecond; power *= 10) {
    for (const int factor : {1, 2, 5}) {
      if (power * factor > 30 * kSecond) break;
      if (static_cast<double>(power * factor) >= least) return power * factor;
    }
  }
  for (const std::int64_t step : {30 * kSecond, kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute,
                                  15 * kMinute, 30 * kMinute, kHour, 2 * kHour, 6 * kHour}) {
    if (static_cast<double>(step) >= least) return step;
  }
  const double days = std::ceil(least / static_cast<double>(24 * kHour));
  return static_cast<std::int64_t>(std::min(days, 50'000.0)) * 24 * kHour;
}

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

std::string tick_text(std::int64_t value, std::int64_t largest, std::int64_t step) {
  if (step >= kSecond && largest >= 10 * kMinute) {
    return (value < 0 ? "−" : "") + clock_text(value < 0 ? -value : value);
  }
  return in_unit(value, axis_unit(largest), step);
}

}  // namespace

std::string length_text(std::int64_t ns) {
  const std::int64_t magnitude = ns < 0 ? -ns : ns;
  const std::string sign = ns < 0 ? "−" : "";
  if (magnitude < 1000) return sign + std::to_string(magnitude) + " ns";
  if (magnitude < 2 * kMinute) return duration_text(ns);
  const std::int64_t seconds = magnitude / kSecond;
  if (magnitude < kHour) {
    return sign + std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return sign + std::to_string(seconds / 3600) + " h " + two_digits(seconds / 60 % 60) + " min";
}

std::string exact_text(std::int64_t ns, std::int64_t step_ns) {
  return tick_text(ns, ns < 0 ? -ns : ns, std::max<std::int64_t>(step_ns, 1));
}

AxisPlan plan_axis(std::int64_t start_ns, std::int64_t end_ns, std::int64_t origin_ns, int most) {
  AxisPlan plan;
  if (end_ns <= start_ns) return plan;
  const std::int64_t step = axis_step(static_cast<double>(end_ns - start_ns), most);
  std::int64_t first = start_ns - origin_ns, last = end_ns - origin_ns;
  const auto largest = [&] { return std::max(std::abs(first), std::abs(last)); };
  std::int64_t base = 0;
  if (largest() < 10 * kMinute || step < kSecond) {
    if (decimals_of(axis_unit(largest()).ns, step) > 3) {
      std::int64_t round = 1'000;
      while (round < 100 * step) round *= 1'000;
      base = floor_to(first, round);
      plan.base = exact_text(base, round);
      first -= base;
      last -= base;
    }
  }
  for (std::int64_t at = -floor_to(-first, step); at <= last; at += step) {
    if (plan.ticks.size() == kMostTicks) break;
    plan.ticks.push_back({origin_ns + base + at, tick_text(at, largest(), step)});
  }
  return plan;
}

}  // namespace shardlens::ui::present
