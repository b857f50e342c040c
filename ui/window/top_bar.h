// The bar above every workspace: the run's state, progress, Start or Stop, the headline figures.
// Interface thread, inside a frame.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/job_text.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::window {

// What only the window itself can do.
struct TopBarResult {
  bool toggle_theme = false;
  bool toggle_help = false;
  std::string workspace;  // the one that was chosen; "": none
};

TopBarResult draw_top_bar(const kit::Theme& theme, const state::Rect& rect,
                          std::string_view workspace, const state::Snapshot& snapshot,
                          state::Commands& commands);
void draw_messages(const kit::Theme& theme, const state::Rect& rect,
                   const std::vector<present::Message>& lines);

}  // namespace shardlens::ui::window
