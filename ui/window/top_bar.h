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
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {

struct WorkspaceTab {
  const char* id;
  std::string_view label, explanation, keys;
  const char* words = "";  // by which the palette finds it, too
};
// Their keys are Ctrl and their number.
inline constexpr WorkspaceTab kWorkspaces[]{
    {state::kTuneWorkspace, "Tune", "What did this knob do, what would that one do?", "Ctrl+1"},
    {state::kInspectWorkspace, "Inspect", "Where did the time go?", "Ctrl+2"},
    {state::kCompareWorkspace, "Compare", "Which is better, and is it real?", "Ctrl+3",
     "compare runs difference"},
    {state::kLearnWorkspace, "Learn", "How does it work?", "Ctrl+4", "learn lessons"}};

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
