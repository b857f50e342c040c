// The whole window: what `app` draws each frame. Interface thread only.
//
//   if (view.prepare_fonts(*io.Fonts)) …the renderer makes its font texture anew…
//   ImGui::NewFrame();  view.draw(snapshot, commands);  ImGui::Render();
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/inspect/inspect_workspace.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/theme.h"
#include "ui/plan/plan_card.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_preferences.h"
#include "ui/tune/workspace.h"
#include "ui/window/command_palette.h"

namespace shardlens::ui {

class MainView {
 public:
  MainView() = default;
  explicit MainView(ViewPreferences preferences);

  // Before ImGui::NewFrame(). True: the atlas was built anew and its texture must be, too.
  bool prepare_fonts(ImFontAtlas& atlas);
  void draw(const Snapshot& snapshot, Commands& commands);

  // Another frame is needed although no event arrives: something settles or was just opened.
  bool wants_redraw() const { return settling_ > 0; }

  // Opens what the text names, once the run is there.
  void go_to(const ViewAddress& address);

  const ViewPreferences& preferences() const { return preferences_; }
  void set_preferences(ViewPreferences preferences);

  void set_probe(DrawProbe* probe) { probe_ = probe; }
  TuneWorkspace& workspace() { return workspace_; }
  InspectWorkspace& inspect() { return inspect_; }
  const FocusRing& focus() const { return focus_; }
  bool inspects() const { return preferences_.workspace == kInspectWorkspace; }

 private:
  float effective_scale() const;
  Theme make_look();
  void change_scale(float factor);
  void handle_keys(const Snapshot& snapshot, Commands& commands);
  // Ctrl+Enter. Behind the commands of the panels, which start at `first`: the field that is being
  // edited gives up its value in the same frame.
  void start_by_key(const Snapshot& snapshot, bool palette_was_open, std::size_t first,
                    Commands& commands) const;
  void follow_or_pause(const Snapshot& snapshot, Commands& commands);
  ViewAddress address(const Snapshot& snapshot) const;
  std::vector<Action> actions(const Snapshot& snapshot, Commands& commands);
  void add_file_actions(std::vector<Action>& out, const Snapshot& snapshot, Commands& commands);
  void add_tune_actions(std::vector<Action>& out);
  void add_inspect_actions(std::vector<Action>& out);
  void add_view_actions(std::vector<Action>& out);  // what changes only the look
  void draw_window(const Theme& theme, const Rect& window, const Snapshot& snapshot,
                   Commands& commands);
  void draw_inspect(const Theme& theme, const Rect& area, const Snapshot& snapshot,
                    Commands& commands);
  // Nothing that lies above the workspace, and no field, has the keyboard.
  bool keys_are_free(const Snapshot& snapshot) const;
  bool workspace_has_keys(const Snapshot& snapshot) const;
  void note_activity(const Snapshot& snapshot);

  ViewPreferences preferences_;
  TuneWorkspace workspace_;
  InspectWorkspace inspect_;
  CommandPalette palette_;
  PlanCardView plan_;
  FocusRing focus_;
  std::optional<ViewAddress> wanted_;  // in Tune: its step
  Fonts fonts_{};
  float fonts_scale_ = 0;
  bool help_ = false;
  int settling_ = 0;
  float seen_width_ = 0, seen_height_ = 0;
  std::uint64_t seen_version_ = 0;
  DrawProbe* probe_ = nullptr;
};

}  // namespace shardlens::ui
