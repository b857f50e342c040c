#include "app/search/space.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::app::search {
namespace {

using trace::base::Result;
using trace::job::Settings;
using trace::job::Strategy;

constexpr std::size_t kLongestWantedName = 70;  // leaves room for a number

std::string batches_around(std::int64_t batch) {
  std::string values;
  for (const std::int64_t value : {batch / 2, batch, 2 * batch, 4 * batch}) {
    if (value > 0) values += (values.empty() ? "" : ",") + std::to_string(value);
  }
  return values;
}

// Between one rank nothing moves, so that only what all strategies obey can matter.
bool may_matter(const std::string& axis, const Settings& base, Strategy strategy) {
  const auto* knob = trace::job::find_knob(axis.substr(0, axis.find('=')));
  if (knob->needs_gpu && base.device == trace::job::DeviceChoice::kCpu) return false;
  return trace::job::has_effect(*knob, strategy) && (base.ranks > 1 || knob->applies_to.empty());
}

// Also what follows from the strategy, which another one would contradict.
Settings with_strategy(Settings settings, Strategy strategy) {
  if (settings.sharding_strategy == strategy) return settings;
  settings.sharding_strategy = strategy;
  settings.reshard_after_forward = Settings{}.reshard_after_forward;
  return settings;
}

// Those that make other buckets than any before, or differ in something else.
void add_new(const std::vector<Settings>& more, std::vector<Settings>& settings) {
  std::vector<Settings> known;
  for (const Settings& point : settings) known.push_back(sweep::with_reached_caps(point));
  for (const Settings& point : more) {
    known.push_back(sweep::with_reached_caps(point));
    const bool is_new = std::ranges::find(known, known.back()) == known.end() - 1;
    if (is_new) settings.push_back(point);
  }
}

// In the table's order: those in which any two points differ.
std::vector<const trace::job::Knob*> varied_knobs(const std::vector<Settings>& settings) {
  std::vector<const trace::job::Knob*> varied;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const std::string first = value_text(settings.front(), knob);
    const bool varies = std::ranges::any_of(
        settings, [&](const Settings& point) { return value_text(point, knob) != first; });
    if (varies) varied.push_back(&knob);
  }
  return varied;
}

}  // namespace

// On one machine a hybrid strategy is another name of the one that it is within a machine.
bool has_several_groups(Settings settings, Strategy strategy) {
  settings.sharding_strategy = strategy;
  return trace::job::shard_group_size(settings, settings.ranks, settings.ranks) < settings.ranks;
}

std::vector<Strategy> default_strategies(const Settings& base) {
  std::vector<Strategy> strategies;
  for (const auto& traits : trace::job::strategies()) {
    const bool is_own = traits.strategy == base.sharding_strategy;
    const bool is_another = !traits.has_groups || has_several_groups(base, traits.strategy);
    if (is_own || (base.ranks > 1 && is_another && learns_the_same(base, traits.strategy))) {
      strategies.push_back(traits.strategy);
    }
  }
  return strategies;
}

std::vector<std::string> default_axes(const Settings& base, Strategy strategy, Goal goal) {
  std::vector<std::string> axes;
  switch (goal) {
    case Goal::kStepTime:
      axes = {"bucket_cap_mb=0.25,0.5,1,2,4,8,16,25,50,100"};
      break;
    case Goal::kTokenRate:
      axes = {"bucket_cap_mb=1,4,25,100", "batch_per_rank=" + batches_around(base.batch_per_rank),
              "activation_checkpointing=0,1"};
      break;
    case Goal::kMemory:
      axes = {"activation_checkpointing=0,1,2,4", "gradient_as_bucket_view=false,true"};
      break;
  }
  if (goal != Goal::kMemory) {
    for (const char* axis : {"backward_prefetch=none,pre,post", "forward_prefetch=false,true",
                             "limit_all_gathers=false,true"}) {
      axes.emplace_back(axis);
    }
  }
  std::erase_if(axes, [&](const std::string& axis) { return !may_matter(axis, base, strategy); });
  return axes;
}

Result<sweep::SweepPoints> default_points(const Settings& base, Goal goal) {
  TRY_ASSIGN(auto points, search_points(base, {}));
  const Settings start = points.settings.front();
  for (const Strategy strategy : default_strategies(start)) {
    const Settings here = with_strategy(start, strategy);
    add_new({here}, points.settings);
    TRY_ASSIGN(const auto grid, sweep::grid_of(here, default_axes(start, strategy, goal)));
    add_new(grid.settings, points.settings);
  }
  if (points.settings.size() == 1) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "One rank reduces nothing, so that no strategy and no bucket makes its "
        "step faster: say what to search among, or take more ranks.");
  }
  points.varied = varied_knobs(points.settings);
  return points;
}

Result<sweep::SweepPoints> search_points(const Settings& base,
                                         const std::vector<std::string>& axes) {
  TRY_ASSIGN(auto points, sweep::grid_of(base, axes));
  const Settings start = trace::job::with_absolute_paths(base);  // as grid_of() has them
  std::erase(points.settings, start);
  points.settings.insert(points.settings.begin(), start);
  return points;
}

std::string default_name(Goal goal, const std::vector<std::string>& axes) {
  if (axes.empty()) return "tune for " + std::string(to_string(goal));
  std::string name = "tune";
  for (const auto& axis : axes) {
    const std::string more = " " + axis.substr(0, axis.find('='));
    if (name.size() + more.size() <= kLongestWantedName) name += more;
  }
  return name;
}

}  // namespace shardlens::app::search
