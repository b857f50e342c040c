// The units of a sharding strategy, gathered from rows as they come. One thread.
#pragma once

#include <map>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/events.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

class UnitTable {
 public:
  // The lowest rank's rows count. Return the number of rows ignored as impossible: 0 or 1.
  int add(const model::Unit& unit);
  int add(const model::UnitParameter& parameter);

  // By index, texts looked up.
  std::vector<UnitFigures> figures(const model::StringTable& strings) const;

 private:
  struct Entry {
    model::Unit unit;
    std::vector<model::UnitParameter> parameters;
  };
  std::map<std::pair<int, int>, Entry> entries_;  // by (rank, index)
};

}  // namespace shardlens::trace::analysis
