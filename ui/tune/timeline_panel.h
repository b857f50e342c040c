// One step on all ranks: phases, compute, communication, buckets, ribbon. Interface thread.
#pragma once

#include <memory>

#include "ui/inspect/draw/timeline_board.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

class TimelinePanel {
 public:
  // `keys`: the keyboard is the workspace's.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            bool keys, state::Commands& commands);

  inspect::TimelineState& state() { return board_.state(); }
  // Where the rows of the last frame lay, and what they are; null before the first step.
  const inspect::RowLayout& layout() const { return board_.layout(); }

 private:
  inspect::TimelineBoard board_;
};

}  // namespace shardlens::ui::tune
