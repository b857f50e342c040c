// The plan card over the window: what every strategy would need on GPUs of the user's choice.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/tables/plan_table.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::plan {

class PlanCardView {
 public:
  // Draws nothing while the card is closed.
  void draw(const kit::Theme& theme, const state::Rect& window, const state::Snapshot& snapshot,
            state::Commands& commands);

 private:
  void update(const kit::Theme& theme, const std::shared_ptr<const state::PlanCard>& card,
              float width);
  void draw_table(const kit::Theme& theme, state::Rect rect, state::Commands& commands) const;
  void draw_head_row(const kit::Theme& theme, state::Rect row) const;
  void draw_strategy_row(const kit::Theme& theme, const state::Rect& row,
                         const present::PlanRow& strategy, state::Commands& commands) const;
  void draw_cells(const kit::Theme& theme, const state::Rect& row, const state::Rect& line_box,
                  const present::PlanRow& strategy) const;
  void draw_bars(const kit::Theme& theme, const state::Rect& row,
                 const present::PlanRow& strategy) const;
  // Gives the shown columns the widths that their texts take; returns the sum.
  float measure(const kit::Theme& theme);
  // Where a column begins, from the row's left.
  float column_x(std::size_t place) const;
  const std::string& text_of(const present::PlanCell& cell) const;

  struct Place {  // of a column that is shown
    std::size_t column = 0;
    float width = 0;
  };

  std::shared_ptr<const state::PlanCard> card_;
  present::PlanTable table_;
  float measured_width_ = 0, measured_scale_ = 0;
  bool narrow_ = false;
  float name_width_ = 0;
  std::vector<Place> places_;
};

}  // namespace shardlens::ui::plan
