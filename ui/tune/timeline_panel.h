// One step on all ranks: phases, compute, communication, buckets, ribbon. Interface thread.
#pragma once

#include <memory>

#include "ui/inspect/draw/timeline_board.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

class TimelinePanel {
 public:
  // `keys`: the keyboard is the workspace's.
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, bool keys,
            Commands& commands);

  TimelineState& state() { return board_.state(); }
  // Where the rows of the last frame lay, and what they are; null before the first step.
  const RowLayout& layout() const { return board_.layout(); }

 private:
  TimelineBoard board_;
};

}  // namespace shardlens::ui
