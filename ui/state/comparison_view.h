// The runs that are compared, and what differs between them. Plain values, published by `app`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/analysis/compare/run_difference.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::state {

struct ComparedRun {
  std::string folder, name;
  std::string ordinal{};                 // "run 4"
  std::shared_ptr<const RunView> run{};  // with a typical step; null: being read, or `problem`
  std::string problem{};                 // why it cannot be read
};

struct ComparisonView {
  std::vector<ComparedRun> runs;  // the base first; empty: none was chosen
  std::int64_t step = -1;         // that is shown of each; -1: a typical one of each
  // Of runs[1], runs[2], … from the base; null where one of the two was not read.
  std::vector<std::shared_ptr<const trace::analysis::RunDifference>> differences;

  bool is_reading() const {
    for (const ComparedRun& run : runs) {
      if (!run.run && run.problem.empty()) return true;
    }
    return false;
  }
};

}  // namespace shardlens::ui::state
