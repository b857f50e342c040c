// The groups' rows as one table.
#include <array>

#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

struct GroupOfKnobs {
  std::string_view heading;
  std::span<const Knob> (*rows)();
};

// By KnobGroup.
constexpr std::array<GroupOfKnobs, kKnobGroupCount> kGroups{{
    {"Model and data", model_and_data_knobs},
    {"Parallelism", parallelism_knobs},
    {"Precision and memory", precision_and_memory_knobs},
    {"Optimization", optimization_knobs},
    {"Checkpoints", checkpoint_knobs},
    {"Recording", recording_knobs},
    {"Simulation", simulation_knobs},
}};

std::vector<Knob> rows_of_all_groups() {
  std::vector<Knob> table;
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    for (Knob knob : kGroups[group].rows()) {
      knob.group = static_cast<KnobGroup>(group);
      table.push_back(knob);
    }
  }
  return table;
}

}  // namespace

std::span<const Knob> knobs() {
  static const std::vector<Knob> kTable = rows_of_all_groups();
  return kTable;
}

std::string_view to_string(KnobGroup group) {
  return kGroups[static_cast<std::size_t>(group)].heading;
}

}  // namespace shardlens::trace
