// Where the time of one rank went within a window, and of all ranks in the mean. Any thread.
#pragma once

#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/ribbon_columns.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::explore {

struct RankRibbon {
  std::vector<timeline::RibbonColumn> columns;
  std::vector<timeline::Piece> pieces;  // where they can be told apart
  bool is_exact = false, is_complete = true;

  timeline::RowPicture picture() const;
};

// The longest cells that are at most a pixel.
int cell_bits_of(double ns_per_pixel);

// From `activity`, or from the rank's overview where there is none.
RankRibbon rank_ribbon(const RankSnapshot& rank, base::Interval window, double ns_per_pixel,
                       const WindowActivity* activity);
// Of all ranks, one after the other in any order.
class MeanRibbon {
 public:
  void add(const RankRibbon& rank);
  timeline::RowPicture picture() const;

 private:
  timeline::MeanColumns columns_;
  bool is_exact_ = true, is_complete_ = true;
};

}  // namespace shardlens::trace::explore
