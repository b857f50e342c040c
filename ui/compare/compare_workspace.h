// The Compare workspace: which is better, and is it real? Interface thread, inside a frame.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ui/compare/compare_tab.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {

class CompareWorkspace {
 public:
  CompareWorkspace();

  // `keys`: the keyboard is the workspace's.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            bool keys, state::Commands& commands);

  // By its title; nothing where there is no such tab.
  void show(std::string_view title);
  const std::vector<std::unique_ptr<CompareTab>>& tabs() const { return tabs_; }

 private:
  void draw_tab_row(const kit::Theme& theme, state::Rect row);

  std::vector<std::unique_ptr<CompareTab>> tabs_;
  std::size_t shown_ = 0;
};

}  // namespace shardlens::ui::compare
