// One row of a picture, or the ribbon of a rank: from events where a pixel is short enough, else
// from the rank's overview. Any thread.
#pragma once

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/ribbon_columns.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::explore {

// What one window of a request is drawn at.
struct RowTask {
  const timeline::TimelineRow* row = nullptr;
  const RankSnapshot* rank = nullptr;  // null: of all ranks
  base::Interval window;               // within what can be drawn at all
  double ns_per_pixel = 1;
  double ns_per_part = 0;  // of collectives, which are cut no finer; less than a pixel: a pixel
};

// A row whose pieces name texts by numbers that only its rank knows.
struct RowDraft {
  timeline::RowPicture picture;
  bool names_are_labels = false;  // of its rank's rows; else the store's global names
};

// A row of kernels that communicate.
bool is_communication(const RankSnapshot& rank, const timeline::TimelineRow& row);

// `activity`: of the row's rank and window, where the row needs it and events are wanted.
RowDraft paint_row(const RunSnapshot& run, const RowTask& task, const WindowActivity* activity);

// Where a rank's time went within a window, from `activity`, or from its overview where there is
// none: columns, and pieces where they can be told apart.
timeline::RowPicture rank_ribbon(const RankSnapshot& rank, base::Interval window,
                                 double ns_per_pixel, const WindowActivity* activity);
// What of it is shown: its pieces, else its columns, those that look the same joined.
timeline::RowPicture shown_ribbon(timeline::RowPicture ribbon);

}  // namespace shardlens::trace::explore
