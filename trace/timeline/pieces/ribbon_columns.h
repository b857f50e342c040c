// Where a rank's time went, by class, as columns of a pixel: the ribbon. Pure functions, any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/base/time_partition.h"
#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

// Nanoseconds by class of one cell of an overview.
struct ClassCell {
  std::int64_t start_ns = 0, end_ns = 0;
  base::TimeByClass ns{};
};

// What a rank did in a window, as columns; as pieces, too, where there are no more of them than
// columns. Outside of `recorded` a time without activity is in no class.
RowPicture exact_ribbon(const base::ActivitySets& sets, base::Interval window,
                        const base::Intervals& recorded, PixelGrid grid);
// `cells` by start, of a length that `grid` is a multiple of.
std::vector<RibbonColumn> ribbon_columns(std::span<const ClassCell> cells, PixelGrid grid);
// The mean over ranks whose columns are on one grid; a rank without a column adds nothing to it.
// The same in whichever order ranks are added, and as large for a thousand of them as for one.
class MeanRibbon {
 public:
  void add(const RowPicture& rank);  // its columns, which are by start
  RowPicture picture() const;

 private:
  struct Sum {
    std::int64_t start_ns = 0, end_ns = 0;
    base::TimeByClass share{};  // in parts of kWhole
  };
  std::vector<Sum> sums_;  // by start
  int ranks_ = 0;
  bool is_exact_ = true, is_complete_ = true;  // all of them
};

// Joins neighbours that touch and whose shares differ by less than can be seen.
void join_columns(std::vector<RibbonColumn>& columns);

}  // namespace shardlens::trace::timeline
