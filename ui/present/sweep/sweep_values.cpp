#include "ui/present/sweep/sweep_values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "trace/base/number_text.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::ui::present {

namespace {

constexpr int kBeside = 2;           // values to either side of the present one
constexpr double kWideRange = 1000;  // from which on logarithmic values lie further apart
constexpr double kFactor = 2, kWideFactor = 4;

std::string joined_values(const std::vector<std::string>& values) {
  const bool has_commas = std::ranges::any_of(values, [](const std::string& value) {
    return value.find_first_of(",=") != std::string::npos;
  });
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : has_commas ? "; " : ", ") + value;
  return text;
}

// As the knob writes it; "" where it does not take it.
std::string taken_value(const trace::job::Knob& knob, double value) {
  trace::job::Settings settings;
  const bool is_integer = trace::job::type_name(knob) == "integer";
  const double digits = value == 0 ? 1 : std::pow(10, 1 - std::floor(std::log10(std::abs(value))));
  const double round = is_integer ? std::round(value) : std::round(value * digits) / digits;
  const std::string text = trace::base::formatted("%.10g", round);
  if (!trace::job::set_value(settings, knob.name, text)) return "";
  return trace::job::value_text(settings, knob);
}

std::vector<std::string> numbers_around(const trace::job::Knob& knob, const std::string& present) {
  const SliderRange range = slider_range(knob);
  const bool has_value = present.find_first_not_of("0123456789.e+-") == std::string::npos;
  const double middle = has_value
                            ? std::strtod(present.c_str(), nullptr)
                            : (knob.logarithmic ? std::sqrt(std::max(range.low, 1.0) * range.high)
                                                : (range.low + range.high) / 2);
  const double factor =
      range.low > 0 && range.high / range.low >= kWideRange ? kWideFactor : kFactor;
  std::vector<std::string> values;
  for (int i = -kBeside; i <= kBeside; ++i) {
    double value = knob.logarithmic ? middle * std::pow(factor, i)
                                    : middle + i * (range.high - range.low) / (2 * kBeside);
    value = std::clamp(value, std::min(range.low, middle), std::max(range.high, middle));
    auto text = i == 0 && has_value ? present : taken_value(knob, value);
    if (!text.empty() && std::ranges::find(values, text) == values.end()) {
      values.push_back(std::move(text));
    }
  }
  return values;
}

}  // namespace

std::string proposed_values(const trace::job::Knob& knob, const trace::job::Settings& settings) {
  const std::string present = trace::job::value_text(settings, knob);
  const auto type = trace::job::type_name(knob);
  if (type == "bool") return "false, true";
  if (type == "number" || type == "integer") return joined_values(numbers_around(knob, present));
  std::vector<std::string> values(knob.choices.begin(), knob.choices.end());
  if (values.empty()) return "";
  if (std::ranges::find(values, present) == values.end()) values.push_back(present);
  return values.size() < 2 ? "" : joined_values(values);
}

}  // namespace shardlens::ui::present
