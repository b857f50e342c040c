// A sweep of many runs of one job. Interface thread, inside a frame.
#pragma once

#include "ui/compare/compare_tab.h"
#include "ui/sweep/sweep_panel.h"

namespace shardlens::ui::compare {

class SweepTab : public CompareTab {
 public:
  std::string_view title() const override { return "Sweep"; }
  std::string_view explanation() const override {
    return "Many runs of one job: which values are best, beyond noise";
  }
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot, bool,
            state::Commands& commands) override {
    panel_.draw(theme, rect, snapshot, commands);
  }

 private:
  sweep::SweepPanel panel_;
};

}  // namespace shardlens::ui::compare
