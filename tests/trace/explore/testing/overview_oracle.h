// What a rank's overview must be, from all that was recorded, in the slowest and plainest way;
// shares no code with it but its values. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/base/time_partition.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/model/batch.h"

namespace shardlens::trace::test {

class OverviewOracle {
 public:
  void add(const model::Batch& batch);

  struct Cell {
    std::int64_t busy_ns = 0, count = 0, longest_ns = 0;
    bool operator==(const Cell&) const = default;
  };
  // The cells that hold something of the window, by their first nanosecond.
  using Cells = std::map<std::int64_t, Cell>;
  std::map<explore::OverviewLane, Cells> lanes(int cell_bits, base::Interval window) const;
  // Of the ribbon; `extent`: what the rank has recorded.
  std::map<std::int64_t, base::TimeByClass> classes(int cell_bits, base::Interval window,
                                                    base::Interval extent) const;

 private:
  static base::Interval ordered(std::int64_t start, std::int64_t end);
  void add_run(const model::EventRun& run);

  std::map<model::StringId, std::string> names_;
  std::map<explore::OverviewLane, std::vector<base::Interval>> events_;
  std::vector<base::Interval> compute_, communication_, copies_, undetailed_, optimizer_;
};

}  // namespace shardlens::trace::test
