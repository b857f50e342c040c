// One step on all ranks: phases, compute, communication, buckets, ribbon. Interface thread.
#pragma once

#include <optional>

#include "trace/advice/values/advice.h"
#include "ui/inspect/draw/timeline_board.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

class TimelinePanel {
 public:
  // `keys`: the keyboard is the workspace's. `tells_mean`: of the predicted steps, if there is
  // one, as nobody else does where the settings are folded.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            bool keys, bool tells_mean, state::Commands& commands);

  // Zooms to what the evidence is about, once its step is on screen.
  void show(const trace::advice::Evidence& evidence) { wanted_ = evidence; }

  inspect::TimelineState& state() { return board_.state(); }
  // Where the rows of the last frame lay, and what they are; null before the first step.
  const inspect::RowLayout& layout() const { return board_.layout(); }

 private:
  void go_to_wanted(const trace::timeline::StepPicture& step);

  inspect::TimelineBoard board_;
  std::optional<trace::advice::Evidence> wanted_;
};

}  // namespace shardlens::ui::tune
