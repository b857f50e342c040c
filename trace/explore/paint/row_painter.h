// One row of a picture: from events where a pixel is short enough, else from the pyramid. Any
// thread.
#pragma once

#include <memory>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace {

// A pixel that is shorter than the finest cells of the pyramid needs events.
inline bool needs_events(double ns_per_pixel) {
  return ns_per_pixel < static_cast<double>(lod_cell_ns(0));
}

// What one window of a request is drawn at.
struct RowTask {
  const TimelineRow* row = nullptr;
  const RankSnapshot* rank = nullptr;  // null: of all ranks
  Interval window;                     // within what can be drawn at all
  double ns_per_pixel = 1;
};

// A row whose pieces name texts by numbers that only its rank knows.
struct RowDraft {
  RowPicture picture;
  bool names_are_labels = false;  // of its rank's rows; else the store's global names
};

class RowPainter {
 public:
  explicit RowPainter(const RunSnapshot& run) : run_(run) {}

  // `activity`: of the row's rank and window, where the row needs it and events are wanted.
  Result<RowDraft> paint(const RowTask& task, const WindowActivity* activity) const;

 private:
  Result<RowDraft> paint_cells(const RowTask& task) const;
  // Communication overlapped or exposed, by what the rank's ribbon has more of there.
  Result<void> class_by_ribbon(const RowTask& task, RowPicture& picture) const;
  RowDraft bulk_row(const RowTask& task, EventKind kind, const WindowActivity* activity) const;
  RowDraft span_row(const RowTask& task) const;
  Result<RowDraft> collective_row(const RowTask& task, const WindowActivity* activity) const;
  RowDraft ready_row(const RowTask& task) const;
  RowDraft sample_row(const RowTask& task) const;

  const RunSnapshot& run_;
};

}  // namespace shardlens::trace
