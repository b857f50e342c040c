#include "trace/job/settings/learning.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shardlens::trace::job {

namespace {

constexpr auto kChangesLearning = std::to_array<std::string_view>(
    {"communication_hook", "communication", "param_dtype", "reduce_dtype", "buffer_dtype"});

}  // namespace

bool changes_learning(const Knob& knob) {
  return std::ranges::find(kChangesLearning, knob.name) != kChangesLearning.end();
}

bool learns_the_same(const Settings& settings, Strategy strategy) {
  return std::ranges::all_of(kChangesLearning, [&](std::string_view name) {
    const Knob& knob = *find_knob(name);
    return value_text(settings, knob) == default_text(knob) ||
           applies(knob, strategy) == applies(knob, settings.sharding_strategy);
  });
}

}  // namespace shardlens::trace::job
