// One step of each run, one above the other on one scale: zoomed and panned together. Interface
// thread, inside a frame.
#pragma once

#include <memory>
#include <vector>

#include "ui/inspect/draw/timeline_board.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/comparison_view.h"

namespace shardlens::ui::compare {

class ComparedTimelines {
 public:
  // `height`: of each run. `keys`: the keyboard is the timelines'.
  void draw(const kit::Theme& theme, const state::Rect& rect, float height,
            const state::ComparisonView& view, bool keys, state::Commands& commands);

  // Of what is on screen; from the step's start.
  const inspect::TimeWindow& window() const { return window_; }

 private:
  void follow(const state::ComparisonView& view);
  void draw_run(const kit::Theme& theme, const state::Rect& rect, const state::ComparisonView& view,
                std::size_t index, bool keys, state::Commands& commands);

  std::vector<std::unique_ptr<inspect::TimelineBoard>> boards_;  // by run
  inspect::TimeWindow window_;
};

}  // namespace shardlens::ui::compare
