// The Learn workspace: a column with lessons, and which of the other workspaces stands beside it,
// showing what the page speaks of. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/lesson/lesson_reader.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_address.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::lesson {

class LearnWorkspace {
 public:
  // Of the column, in pixels: the view beside it has two thirds of the window at least.
  static float column_width(const kit::Theme& theme, float window_width);
  void draw(const kit::Theme& theme, const state::Rect& column, const state::Snapshot& snapshot,
            state::Commands& commands);
  // PageDown and PageUp, which are also what a presenter's remote control sends.
  void use_keys();

  // Behind all that may have chosen a page or another workspace in this frame. `workspace`: that is
  // on screen.
  struct Turn {
    bool entered = false, left = false;  // Learn, in this frame
    // What the session has opened, once: the window is to show it.
    std::optional<state::ViewAddress> arrived;
  };
  Turn follow(const std::string& workspace, const state::Snapshot& snapshot,
              state::Commands& commands);
  bool is_entered() const { return is_on_screen_; }  // as of then

  LessonReader& reader() { return reader_; }
  // The one beside the column: while Learn is not on screen that which is.
  std::string& shown() { return shown_; }
  const std::string& shown() const { return shown_; }
  // Of Tune, as long as Learn is on screen: there is less room, and a text to look at.
  state::PanelFolds& folds() { return folds_; }

 private:
  LessonReader reader_;
  std::string shown_ = state::kTuneWorkspace;
  state::PanelFolds folds_{.knobs = true, .dock = true};
  bool is_on_screen_ = false;
  std::shared_ptr<const state::ViewAddress> seen_;  // what arrived last
};

}  // namespace shardlens::ui::lesson
