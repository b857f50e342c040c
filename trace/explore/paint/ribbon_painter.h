// Where the time of one rank went within a window, and of all ranks in the mean. Any thread.
#pragma once

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/ribbon_columns.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::explore {

// The longest cells that are at most a pixel.
int cell_bits_of(double ns_per_pixel);

// From `activity`, or from the rank's overview where there is none: columns, and pieces where they
// can be told apart.
timeline::RowPicture rank_ribbon(const RankSnapshot& rank, base::Interval window,
                                 double ns_per_pixel, const WindowActivity* activity);
// What of it is shown: its pieces, else its columns, those that look the same joined.
timeline::RowPicture shown_ribbon(timeline::RowPicture ribbon);
// Of all ranks, one after the other in any order.
class MeanRibbon {
 public:
  void add(const timeline::RowPicture& rank);
  timeline::RowPicture picture() const;

 private:
  timeline::MeanColumns columns_;
  bool is_exact_ = true, is_complete_ = true;
};

}  // namespace shardlens::trace::explore
