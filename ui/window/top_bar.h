// The bar above every workspace: the run's state, progress, Start or Stop, the headline figures.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/headline.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::window {

// What only the window itself can do.
struct TopBarResult {
  bool toggle_theme = false;
  bool toggle_help = false;
  std::string workspace;  // the one that was chosen; "": none
};

// Figures of the run on screen: made when that changes, not in each frame.
class TopBarFigures {
 public:
  const std::vector<present::Headline>& of(const std::shared_ptr<const state::RunView>& run);

 private:
  std::shared_ptr<const state::RunView> run_;
  std::vector<present::Headline> figures_;
};

struct TopBarInput {
  std::string_view workspace;
  const state::Snapshot& snapshot;
  const std::vector<present::Headline>& figures;
};
TopBarResult draw_top_bar(const kit::Theme& theme, const state::Rect& rect,
                          const TopBarInput& input, state::Commands& commands);

}  // namespace shardlens::ui::window
