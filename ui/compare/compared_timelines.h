// One step of each run, one above the other on one scale: zoomed, panned and measured together.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/inspect/draw/timeline_board.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {

class ComparedTimelines {
 public:
  // `height`: of each run; what does not fit into `rect` is scrolled to, by the bar, or by the
  // wheel over a run's name: over a timeline it zooms. `keys`: the keyboard is the timelines'.
  void draw(const kit::Theme& theme, const state::Rect& rect, float height,
            const state::ComparisonView& view, bool keys, state::Commands& commands);

  // Scrolls so that this run's is on screen, when it is drawn next.
  void bring_into_view(std::size_t run) { wanted_ = run; }

  // Of what is on screen; from the step's start.
  const inspect::TimeWindow& window() const { return window_; }

 private:
  void follow(const state::ComparisonView& view);
  void draw_run(const kit::Theme& theme, const state::Rect& rect, const state::ComparisonView& view,
                std::size_t index, bool keys, state::Commands& commands);

  void scroll(const kit::Theme& theme, const state::Rect& rect, float height, std::size_t runs);

  std::vector<std::unique_ptr<inspect::TimelineBoard>> boards_;  // by run
  std::optional<std::size_t> wanted_;                            // run to be brought into view
  inspect::TimeWindow window_;
  bool measuring_ = false;  // in all of them
};

}  // namespace shardlens::ui::compare
