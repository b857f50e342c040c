// The tab of a step's memory: every allocation as a band over time, what was alive at the peak.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/inspect/memory/memory_flame_draw.h"
#include "ui/inspect/memory/memory_text.h"
#include "ui/inspect/timeline/timeline_window.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

class MemoryTab {
 public:
  // `run`: nothing where it was not made by this program's trainer.
  // Returns where the timeline should go.
  std::vector<trace::timeline::TimeRange> draw(const kit::Theme& theme, const state::Rect& rect,
                                               const state::InspectView& view,
                                               const std::optional<RecordedRun>& run,
                                               state::Commands& commands);

  void forget_run() {
    wanted_ = {.hides_constant = wanted_.hides_constant};
    run_ = {};
  }
  void choose_step(std::int64_t step) { wanted_.step = step; }
  const TimeWindow& window() const { return run_.window; }

 private:
  void ask(state::Commands& commands);
  void take(const std::shared_ptr<const trace::timeline::StepMemory>& memory);
  void draw_tools(const kit::Theme& theme, state::Rect tools, const state::InspectView& view,
                  const state::Rect& picture, state::Commands& commands);
  void draw_choices(const kit::Theme& theme, state::Rect& tools);
  void draw_none(const kit::Theme& theme, const state::Rect& rect,
                 const std::optional<RecordedRun>& run);
  void draw_picture(const kit::Theme& theme, const state::Rect& rect);
  void use_mouse(const FlameCanvas& canvas, const trace::timeline::FlameHit& hit);
  void explain_hit(const kit::Theme& theme, const trace::timeline::FlameHit& hit) const;
  void draw_side(const kit::Theme& theme, state::Rect rect);
  std::optional<std::size_t> picked_row() const;

  trace::timeline::StepMemoryRequest wanted_;
  table::TableView view_{present::TableSort{"Size", true}};
  struct OfRun {
    std::optional<trace::timeline::StepMemoryRequest> asked;
    std::shared_ptr<const trace::timeline::StepMemory> memory;
    std::shared_ptr<const present::Table> table;
    TimeWindow window;
    int picked = -1;  // index of an allocation
    bool moved = false;
    std::vector<trace::timeline::TimeRange> wanted_view;
  } run_;
};

}  // namespace shardlens::ui::inspect
