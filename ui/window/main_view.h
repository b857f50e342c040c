// The whole window: what `app` draws each frame. Interface thread only.
//
//   if (view.prepare_fonts(*io.Fonts)) …the renderer makes its font texture anew…
//   ImGui::NewFrame();  view.draw(snapshot, commands);  ImGui::Render();
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/compare/compare_workspace.h"
#include "ui/inspect/inspect_workspace.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/theme.h"
#include "ui/lesson/learn_workspace.h"
#include "ui/plan/plan_card.h"
#include "ui/present/job_text.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_preferences.h"
#include "ui/tune/layout.h"
#include "ui/tune/workspace.h"
#include "ui/window/command_palette.h"
#include "ui/window/top_bar.h"
#include "ui/window/view_addresses.h"

namespace shardlens::ui::window {

class MainView {
 public:
  MainView() = default;
  explicit MainView(state::ViewPreferences preferences);

  // Before ImGui::NewFrame(). True: the atlas was built anew and its texture must be, too.
  bool prepare_fonts(ImFontAtlas& atlas);
  void draw(const state::Snapshot& snapshot, state::Commands& commands);

  // Another frame is needed although no event arrives: something settles or was just opened.
  bool wants_redraw() const { return settling_ > 0; }

  // Of Tune, whose dock is unfolded for it.
  void show_in_dock(tune::DockPanel::Tab tab) { workspace_.show_in_dock(tab, folds().dock); }
  // Of a run that was asked for and is on its way: Compare does not show it.
  void make_way_for_run();
  // Opens what the text names, once the run is there. Which runs are compared the caller says.
  void go_to(const state::ViewAddress& address);
  // In Learn; also before the lessons have been read. Both counted from 0; of `lesson` -1 stands
  // for all, to choose from.
  void open_lesson(int lesson, int page);

  const state::ViewPreferences& preferences() const { return preferences_; }
  void set_preferences(state::ViewPreferences preferences);

  void set_probe(kit::DrawProbe* probe) { probe_ = probe; }
  tune::TuneWorkspace& workspace() { return workspace_; }
  inspect::InspectWorkspace& inspect() { return inspect_; }
  const kit::FocusRing& focus() const { return focus_; }
  compare::CompareWorkspace& compare() { return compare_; }
  lesson::LearnWorkspace& lessons() { return learn_; }
  bool learns() const { return preferences_.workspace == state::kLearnWorkspace; }
  // Whether it is to be seen, also beside a lesson.
  bool inspects() const { return shown_workspace() == state::kInspectWorkspace; }
  bool compares() const { return shown_workspace() == state::kCompareWorkspace; }

 private:
  // Tune, Inspect or Compare, whichever is to be seen: in Learn the one beside the lesson, which
  // changes without leaving it.
  std::string& shown_workspace() { return learns() ? learn_.shown() : preferences_.workspace; }
  const std::string& shown_workspace() const {
    return learns() ? learn_.shown() : preferences_.workspace;
  }
  float effective_scale() const;
  kit::Theme make_look();
  void choose_other_theme();
  void change_scale(float factor);
  // Beside a lesson, and while presenting, all is folded until it is asked for, which no preference
  // keeps.
  state::PanelFolds& folds() {
    if (learns()) return learn_.folds();
    return preferences_.present_mode ? present_folds_ : preferences_.folds;
  }
  void present(bool presents);
  void handle_keys(const state::Snapshot& snapshot, state::Commands& commands);
  // Ctrl+Enter. Behind the commands of the panels, which start at `first`: the field that is being
  // edited gives up its value in the same frame. `keeps_enter`: the palette or a pop-up was open,
  // so that only a setting's new value starts a run.
  void start_by_key(const state::Snapshot& snapshot, bool keeps_enter, std::size_t first,
                    state::Commands& commands) const;
  void follow_or_pause(const state::Snapshot& snapshot, state::Commands& commands);
  bool has_address(const state::Snapshot& snapshot) const;
  state::ViewAddress address(const state::Snapshot& snapshot) const;
  void open(const state::ViewAddress& address);  // without leaving Learn
  void follow_lessons(const state::Snapshot& snapshot, state::Commands& commands);
  std::vector<Action> actions(const state::Snapshot& snapshot, state::Commands& commands);
  void add_file_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                        state::Commands& commands);
  void add_tune_actions(std::vector<Action>& out);
  void add_inspect_actions(std::vector<Action>& out);
  void add_lesson_actions(std::vector<Action>& out);
  void add_view_actions(std::vector<Action>& out);  // what changes only the look
  tune::LayoutInput layout_input(const kit::Theme& theme, const state::Rect& area,
                                 const state::Snapshot& snapshot,
                                 const std::vector<present::Message>& messages);
  void draw_window(const kit::Theme& theme, const state::Rect& window,
                   const state::Snapshot& snapshot, state::Commands& commands);
  void draw_inspect(const kit::Theme& theme, const state::Rect& area,
                    const state::Snapshot& snapshot, state::Commands& commands);
  void draw_workspace(const kit::Theme& theme, const tune::TuneLayout& layout,
                      const state::Rect& area, const state::Snapshot& snapshot,
                      state::Commands& commands);
  // Cards, help, the palette.
  void draw_overlays(const kit::Theme& theme, const state::Rect& window,
                     const state::Snapshot& snapshot, state::Commands& commands);
  // The workspace that answers the commands from `first` on comes to the front.
  void show_answers(std::size_t first, const state::Commands& commands);
  // Nothing that lies above the workspace, and no field, has the keyboard.
  bool keys_are_free(const state::Snapshot& snapshot) const;
  bool workspace_has_keys(const state::Snapshot& snapshot) const;
  void note_activity(const state::Snapshot& snapshot);

  state::ViewPreferences preferences_;
  tune::TuneWorkspace workspace_;
  inspect::InspectWorkspace inspect_;
  compare::CompareWorkspace compare_;
  lesson::LearnWorkspace learn_;
  TopBarFigures top_figures_;
  CommandPalette palette_;
  plan::PlanCardView plan_;
  kit::FocusRing focus_;
  TuneWish tune_wish_;
  std::optional<state::ViewAddress> before_lessons_;  // what Inspect showed
  std::string_view compare_tab_before_lessons_;
  kit::Fonts fonts_{};
  float fonts_scale_ = 0;
  state::PanelFolds present_folds_{.knobs = true, .dock = true};
  bool help_ = false;
  int settling_ = 0;
  float seen_width_ = 0, seen_height_ = 0;
  std::uint64_t seen_version_ = 0;
  kit::DrawProbe* probe_ = nullptr;
};

}  // namespace shardlens::ui::window
