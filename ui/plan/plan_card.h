// The plan card over the window: what every strategy would need on GPUs of the user's choice.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/tables/plan_table.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

class PlanCardView {
 public:
  // Draws nothing while the card is closed.
  void draw(const Theme& theme, const Rect& window, const Snapshot& snapshot, Commands& commands);

 private:
  void update(const Theme& theme, const std::shared_ptr<const PlanCard>& card, float width);
  void draw_table(const Theme& theme, Rect rect, Commands& commands) const;
  void draw_head_row(const Theme& theme, Rect row) const;
  void draw_strategy_row(const Theme& theme, const Rect& row, const PlanRow& strategy,
                         Commands& commands) const;
  void draw_cells(const Theme& theme, const Rect& row, const Rect& line_box,
                  const PlanRow& strategy) const;
  void draw_bars(const Theme& theme, const Rect& row, const PlanRow& strategy) const;
  // Gives the shown columns the widths that their texts take; returns the sum.
  float measure(const Theme& theme);
  // Where a column begins, from the row's left.
  float column_x(std::size_t place) const;
  const std::string& text_of(const PlanCell& cell) const;

  struct Place {  // of a column that is shown
    std::size_t column = 0;
    float width = 0;
  };

  std::shared_ptr<const PlanCard> card_;
  PlanTable table_;
  float measured_width_ = 0, measured_scale_ = 0;
  bool narrow_ = false;
  float name_width_ = 0;
  std::vector<Place> places_;
};

}  // namespace shardlens::ui
