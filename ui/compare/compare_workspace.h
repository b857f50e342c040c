// The Compare workspace: which is better, and is it real? Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <string_view>

#include "ui/compare/runs_tab.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/sweep/sweep_panel.h"

namespace shardlens::ui::compare {

class CompareWorkspace {
 public:
  // `keys`: the keyboard is the workspace's.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            bool keys, state::Commands& commands);

  // By its title; nothing where there is no such tab.
  void show(std::string_view title);
  std::string_view shown() const;  // the title of that tab
  bool shows_runs() const;         // not a sweep
  const RunsTab& runs() const { return runs_; }

 private:
  void draw_tab_row(const kit::Theme& theme, state::Rect row);

  RunsTab runs_;
  sweep::SweepPanel sweep_;
  std::size_t shown_ = 0;  // which of them
};

}  // namespace shardlens::ui::compare
