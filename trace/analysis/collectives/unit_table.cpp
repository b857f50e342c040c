#include "trace/analysis/collectives/unit_table.h"

#include <string>

namespace shardlens::trace::analysis {

namespace {

// Far beyond any real model; bounds on what nonsense can make us keep.
constexpr std::size_t kMostEntries = 1u << 20;
constexpr std::size_t kMostParameters = 1u << 16;

}  // namespace

int UnitTable::add(const model::Unit& unit) {
  const bool possible = unit.rank >= 0 && unit.index >= 0 && unit.shard_count >= 1 &&
                        model::is_plausible_size(unit.bytes) &&
                        model::is_plausible_size(unit.shard_bytes) &&
                        model::is_plausible_size(unit.reduced_bytes);
  if (!possible || entries_.size() >= kMostEntries) return 1;
  entries_[{unit.rank, unit.index}].unit = unit;
  return 0;
}

int UnitTable::add(const model::UnitParameter& parameter) {
  const auto entry = entries_.find({parameter.rank, parameter.unit});
  if (entry == entries_.end() || !model::is_plausible_size(parameter.bytes) ||
      entry->second.parameters.size() >= kMostParameters) {
    return 1;
  }
  entry->second.parameters.push_back(parameter);
  return 0;
}

std::vector<UnitFigures> UnitTable::figures(const model::StringTable& strings) const {
  std::vector<UnitFigures> result;
  for (const auto& [key, entry] : entries_) {
    const model::Unit& unit = entry.unit;
    if (unit.rank != entries_.begin()->first.first) break;
    UnitFigures& figures = result.emplace_back();
    figures.index = unit.index;
    figures.name = std::string(strings.get(unit.rank, unit.name));
    figures.bytes = unit.bytes;
    figures.shard_bytes = unit.shard_bytes;
    figures.reduced_bytes = unit.reduced_bytes;
    figures.shard_count = unit.shard_count;
    figures.data_type = std::string(strings.get(unit.rank, unit.data_type));
    for (const model::UnitParameter& parameter : entry.parameters) {
      figures.parameters.emplace_back(strings.get(parameter.rank, parameter.name));
      figures.parameter_bytes.push_back(parameter.bytes);
    }
  }
  return result;
}

}  // namespace shardlens::trace::analysis
