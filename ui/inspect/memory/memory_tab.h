// The tab of a step's memory: every allocation as a band over time, what was alive at the peak.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ui/inspect/memory/memory_flame_draw.h"
#include "ui/inspect/timeline/timeline_window.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"
#include "ui/table/table_view.h"

namespace shardlens::ui {

class MemoryTab {
 public:
  // `setting`: the run's record_allocations; "" where the run was not made by this program.
  // Returns where the timeline should go.
  std::optional<trace::TimeRange> draw(const Theme& theme, const Rect& rect,
                                       const InspectView& view, std::string_view setting,
                                       Commands& commands);

  void forget_run() {
    wanted_ = {.hides_constant = wanted_.hides_constant};
    run_ = {};
  }
  void choose_step(std::int64_t step) { wanted_.step = step; }
  const trace::StepMemoryRequest& wanted() const { return wanted_; }
  const TimeWindow& window() const { return run_.window; }

 private:
  void ask(Commands& commands);
  void take(const std::shared_ptr<const trace::StepMemory>& memory);
  void draw_tools(const Theme& theme, Rect tools, const InspectView& view, const Rect& picture,
                  Commands& commands);
  bool draw_choices(const Theme& theme, Rect& tools);
  void draw_none(const Theme& theme, const Rect& rect, std::string_view setting);
  void draw_picture(const Theme& theme, const Rect& rect);
  void use_mouse(const FlameCanvas& canvas, const trace::FlameHit& hit);
  void explain_hit(const Theme& theme, const trace::FlameHit& hit) const;
  void draw_side(const Theme& theme, Rect rect);
  std::optional<std::size_t> picked_row() const;

  trace::StepMemoryRequest wanted_;
  TableView view_{TableSort{"Size", true}};
  struct OfRun {
    std::optional<trace::StepMemoryRequest> asked;
    std::shared_ptr<const trace::StepMemory> memory;
    std::shared_ptr<const Table> table;
    TimeWindow window;
    int picked = -1;  // index of an allocation
    bool moved = false;
    std::optional<trace::TimeRange> wanted_view;
  } run_;
};

}  // namespace shardlens::ui
