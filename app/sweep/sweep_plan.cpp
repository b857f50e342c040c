#include "app/sweep/sweep_plan.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "trace/base/printable.h"
#include "trace/base/text.h"

namespace shardlens::app::sweep {
namespace {

using trace::base::ErrorKind;

constexpr std::size_t kLongestName = 80;
constexpr std::size_t kLongestValues = 100;  // in a message

// In the order of the points, each once.
std::string values_text(const SweepPoints& points, const trace::job::Knob& knob) {
  std::vector<std::string> values;
  for (const auto& settings : points.settings) {
    auto value = trace::job::value_text(settings, knob);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  return trace::base::shortened(trace::base::joined(values), kLongestValues);
}

bool holds_all(const SweepPoints& points, const SweepPoints& others) {
  return std::ranges::all_of(others.settings, [&](const auto& settings) {
    return std::ranges::find(points.settings, settings) != points.settings.end();
  });
}

bool are_told_apart(std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

}  // namespace

std::vector<std::size_t> order_of(const SweepPlan& plan, int round) {
  std::vector<std::size_t> order(plan.points.settings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq seeds{static_cast<std::uint32_t>(plan.seed),
                      static_cast<std::uint32_t>(plan.seed >> 32),
                      static_cast<std::uint32_t>(round)};
  std::mt19937_64 random(seeds);
  // Fisher and Yates; not std::shuffle(), whose result the standard leaves open.
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

trace::base::Result<void> check_sweep_name(const std::string& name) {
  const bool is_plain = !name.empty() && name == trace::base::printable_line(name) &&
                        name == trace::base::trimmed(name) && name.front() != '.' &&
                        name.find('/') == std::string::npos && name.size() <= kLongestName;
  if (is_plain) return {};
  return trace::base::fail(
      ErrorKind::kUsage,
      "'" + trace::base::shortened(name) + "' cannot be the name of a sweep: use at most " +
          std::to_string(kLongestName) + " letters, digits and signs, no / and no . in front.");
}

std::string default_name(const SweepPoints& points) {
  std::string name = "sweep of";
  for (const trace::job::Knob* knob : points.varied) {
    const std::string more = (name.ends_with("of") ? " " : ", ") + std::string(knob->name);
    if (name.size() + more.size() > kLongestName - 5) break;
    name += more;
  }
  return name;
}

std::vector<std::string> point_names(const SweepPlan& plan) {
  std::vector<std::string> names;
  const auto* strategy = trace::job::find_knob("sharding_strategy");
  const auto& varied = plan.points.varied;
  const bool is_of_strategies = std::ranges::find(varied, strategy) != varied.end();
  for (std::size_t i = 0; i < plan.points.settings.size(); ++i) {
    names.push_back(trace::job::name_from_values(
        plan.points.settings[i], is_of_strategies ? obeyed_knobs(plan.points, i) : varied));
  }
  const bool are_short_enough = are_told_apart(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = plan.name + ", " + (are_short_enough ? names[i] : "point " + std::to_string(i + 1));
  }
  return names;
}

std::string run_name(const std::string& point_name, int round) {
  return point_name + ", run " + std::to_string(round + 1);
}

std::string tag_of(const SweepPlan& plan) {
  std::string tag = plan.name;
  std::ranges::replace_if(
      tag, [](char c) { return c == ' ' || c == ','; }, '-');
  return tag;
}

std::string difference_text(const SweepPoints& there, const SweepPoints& here) {
  if (there.settings.size() == here.settings.size() && holds_all(there, here)) return "";
  std::string text;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const std::string before = values_text(there, knob), now = values_text(here, knob);
    if (before == now) continue;
    text += (text.empty() ? "" : "; ") + std::string(knob.name) + ": " + before + " there, " + now +
            " here";
  }
  return text.empty() ? "other combinations of the same values" : text;
}

}  // namespace shardlens::app::sweep
