// A sweep to look at: verdict, pictures, points. Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "ui/kit/theme.h"
#include "ui/present/sweep/sweep_charts.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::sweep {

class SweepPanel {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);

 private:
  // What is worked out of one published sweep.
  struct Prepared {
    std::shared_ptr<const state::ShownSweep> of;
    // One of the three, or none.
    std::optional<present::SweepCurve> curve, ranking;
    std::optional<present::HeatMap> map;
    std::optional<present::ParetoChart> pareto;
    std::shared_ptr<const present::Table> table;
  };

  void prepare(const std::shared_ptr<const state::ShownSweep>& sweep);
  bool has_dashes() const;  // anything predicted is drawn
  void draw_points(const kit::Theme& theme, const state::Rect& rect,
                   const trace::job::Settings& next, state::Commands& commands);
  void draw_pictures(const kit::Theme& theme, state::Rect rect);

  Prepared prepared_;
  table::TableView table_;
  std::optional<std::size_t> selected_;  // a point
  std::size_t menu_of_ = 0;
  bool asked_ = false;  // for the library's sweeps
};

}  // namespace shardlens::ui::sweep
