#include "trace/job/shape/unit_choice.h"

namespace shardlens::trace::job {

namespace {

std::int64_t values_in(const ModuleNode& module) {
  std::int64_t values = module.values;
  for (const ModuleNode& child : module.children) values += child.times * values_in(child);
  return values;
}

// Returns how many values of `module` are in units.
std::int64_t choose(const ModuleNode& module, std::int64_t smallest, std::vector<int>& units) {
  const std::int64_t all = values_in(module);
  if (all < smallest) return 0;
  std::int64_t wrapped = 0;
  for (const ModuleNode& child : module.children) {
    wrapped += child.times * choose(child, smallest, units);
  }
  if (!module.can_be_unit || all - wrapped < smallest) return wrapped;
  units.push_back(module.id);
  return all;
}

}  // namespace

std::vector<int> units_by_size(const ModuleNode& model, std::int64_t smallest) {
  std::vector<int> units;
  choose(model, smallest, units);
  return units;
}

}  // namespace shardlens::trace::job
