// Keys and commands of the window.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "ui/inspect/draw/timeline_keys.h"
#include "ui/kit/keys.h"
#include "ui/present/job_text.h"
#include "ui/present/ledger_text.h"
#include "ui/window/main_view.h"

namespace shardlens::ui {

namespace {

constexpr float kScaleStep = 0.125f;

bool offers_start(const StartControls& controls) {
  return controls.kind == StartControls::Kind::kStart ||
         controls.kind == StartControls::Kind::kQueue;
}

bool can_start(const Snapshot& snapshot) {
  const StartControls controls = start_controls(snapshot);
  return offers_start(controls) && controls.enabled;
}

void add_timeline_actions(std::vector<Action>& out, TimelineState& state) {
  out.push_back({"Fit the timeline", "F", [&state] { state.shown_window().fit(); }});
  out.push_back({"Measure on the timeline", "M", [&state] { toggle_measure(state); }});
}

}  // namespace

void MainView::change_scale(float steps) {
  const float wanted = steps == 0 ? 1 : preferences_.scale + steps * kScaleStep;
  preferences_.scale = std::clamp(wanted, kSmallestScale, kLargestScale);
}

void MainView::follow_or_pause(const Snapshot& snapshot, Commands& commands) {
  if (snapshot.replay.active) {
    commands.push_back(SetReplayPlaying{!snapshot.replay.playing});
  } else if (snapshot.run) {
    commands.push_back(SelectStep{snapshot.run->follows_live ? snapshot.run->selected_step : -1});
  }
}

bool MainView::keys_are_free(const Snapshot& snapshot) const {
  return !ImGui::GetIO().WantTextInput && !palette_.is_open() && !help_ && !snapshot.plan &&
         !focus_.took_key();
}

bool MainView::workspace_has_keys(const Snapshot& snapshot) const {
  return keys_are_free(snapshot) && !ImGui::GetIO().KeyCtrl;
}

void MainView::handle_keys(const Snapshot& snapshot, Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  if (key_pressed(Key::kF11, false)) preferences_.present_mode = !preferences_.present_mode;
  if (io.KeyCtrl) {
    if (key_pressed(Key::kEqual) || key_pressed(Key::kPadPlus) || key_pressed(Key::kRightBracket)) {
      change_scale(1);
    }
    if (key_pressed(Key::kMinus) || key_pressed(Key::kPadMinus)) change_scale(-1);
    if (key_pressed(Key::kZero, false) || key_pressed(Key::kPadZero, false)) change_scale(0);
    if (key_pressed(Key::kK, false)) palette_.is_open() ? palette_.close() : palette_.open();
    if (key_pressed(Key::kB, false)) preferences_.fold_knobs = !preferences_.fold_knobs;
    if (key_pressed(Key::kT, false)) {
      preferences_.theme =
          preferences_.theme == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark;
    }
    if (key_pressed(Key::kOne, false)) preferences_.workspace = kTuneWorkspace;
    if (key_pressed(Key::kTwo, false)) preferences_.workspace = kInspectWorkspace;
    if (key_pressed(Key::kF, false) && inspects()) inspect_.find();
    return;
  }
  if (io.WantTextInput || palette_.is_open()) return;
  if (typed('?')) help_ = !help_;
  if (help_) return;
  if (key_pressed(Key::kP, false)) {
    commands.push_back(snapshot.plan ? Command(ClosePlan{}) : Command(OpenPlan{}));
  }
  if (!keys_are_free(snapshot)) return;
  if (inspects()) {  // its own keys are obeyed where it draws
    if (key_pressed(Key::kSpace, false)) follow_or_pause(snapshot, commands);
    return;
  }
  if (key_pressed(Key::kSpace, false)) follow_or_pause(snapshot, commands);
  for (const auto& [key, direction] : {std::pair{Key::kLeft, -1}, std::pair{Key::kRight, 1}}) {
    if (!key_pressed(key)) continue;
    const std::int64_t step = neighbour_step(snapshot, direction);
    if (step >= 0) commands.push_back(SelectStep{step});
  }
}

void MainView::start_by_key(const Snapshot& snapshot, bool palette_was_open, std::size_t first,
                            Commands& commands) const {
  if (!ImGui::GetIO().KeyCtrl || !enter_pressed() || help_) return;
  const auto sets = [](const Command& command) { return std::holds_alternative<SetKnob>(command); };
  const bool edited =
      std::any_of(commands.begin() + static_cast<std::ptrdiff_t>(first), commands.end(), sets);
  if (palette_was_open && !edited) return;                // the palette's own entry was meant
  if (inspects() && inspect_.tabs().edits_sql()) return;  // a query was meant
  const StartControls controls = start_controls(snapshot);
  // Problems are those before the edit; who starts the run checks the settings again.
  if (offers_start(controls) && (controls.enabled || edited)) commands.push_back(StartRun{});
}

void MainView::add_tune_actions(std::vector<Action>& out) {
  add_timeline_actions(out, workspace_.timeline().state());
  out.push_back(
      {"Show the ledger of runs", "", [this] { workspace_.dock().show(DockPanel::Tab::kRuns); }});
  out.push_back({"Show the log", "", [this] { workspace_.dock().show(DockPanel::Tab::kLog); }});
}

void MainView::add_inspect_actions(std::vector<Action>& out) {
  using Mode = TimelineState::Mode;
  TimelineState& state = inspect_.timeline().state();
  add_timeline_actions(out, state);
  out.push_back({"Zoom to the selection", "Enter", [&state] { zoom_to_selection(state); }});
  out.push_back({"Find names", "Ctrl+F", [this] { inspect_.find(); }});
  const bool steps = state.mode == Mode::kSteps;
  out.push_back({steps ? "Timeline by the clock" : "Steps one above the other", "",
                 [&state, steps] { state.mode = steps ? Mode::kTime : Mode::kSteps; }});
  out.push_back(
      {state.aligned_by_step ? "Align ranks by their clocks" : "Align ranks by their step", "",
       [&state] { state.aligned_by_step = !state.aligned_by_step; }});
  for (int i = 0; i < kInspectTabCount; ++i) {
    const auto tab = static_cast<InspectTab>(i);
    out.push_back(
        {"Show: " + std::string(tab_title(tab)), "", [this, tab] { inspect_.tabs().show(tab); }});
  }
}

void MainView::add_view_actions(std::vector<Action>& out) {
  inspects() ? add_inspect_actions(out) : add_tune_actions(out);
  out.push_back({"Workspace: Tune", "Ctrl+1", [this] { preferences_.workspace = kTuneWorkspace; }});
  out.push_back(
      {"Workspace: Inspect", "Ctrl+2", [this] { preferences_.workspace = kInspectWorkspace; }});
  out.push_back({"Dark or light theme", "Ctrl+T",
                 [this] {
                   preferences_.theme = preferences_.theme == ThemeKind::kDark ? ThemeKind::kLight
                                                                               : ThemeKind::kDark;
                 },
                 "theme colours"});
  out.push_back(
      {"Present mode", "F11", [this] { preferences_.present_mode = !preferences_.present_mode; }});
  out.push_back({"Larger scale", "Ctrl++", [this] { change_scale(1); }, "scale zoom"});
  out.push_back({"Smaller scale", "Ctrl+−", [this] { change_scale(-1); }, "scale zoom"});
  out.push_back({"Normal scale", "Ctrl+0", [this] { change_scale(0); }, "scale zoom"});
  out.push_back({"Fold or unfold the settings", "Ctrl+B",
                 [this] { preferences_.fold_knobs = !preferences_.fold_knobs; }});
  out.push_back({"Show the keys", "?", [this] { help_ = true; }});
}

void MainView::go_to(const ViewAddress& address) {
  preferences_.workspace = address.workspace;
  wanted_ = address;
  inspect_.go_to(address);
}

ViewAddress MainView::address(const Snapshot& snapshot) const {
  if (inspects() && snapshot.inspect) return inspect_.address(*snapshot.inspect);
  ViewAddress address;
  address.workspace = kTuneWorkspace;
  address.run = std::filesystem::path(snapshot.run->figures.info.folder).filename().string();
  if (!snapshot.run->follows_live) address.step = snapshot.run->selected_step;
  return address;
}

void MainView::add_file_actions(std::vector<Action>& out, const Snapshot& snapshot,
                                Commands& commands) {
  const auto send = [&commands](Command command) {
    return [&commands, command] { commands.push_back(command); };
  };
  out.push_back({"Open a run or a trace…", "", [this] { palette_.open("open "); }, "open file"});
  out.push_back({"Import a trace of PyTorch's profiler…", "", [this] { palette_.open("import "); },
                 "import kineto json"});
  if (inspects() && snapshot.inspect) {
    out.push_back({"Export a picture of the timeline", "", send(inspect_.timeline_picture()),
                   "export save png"});
    out.push_back({"Export a picture of the whole run", "", send(inspect_.whole_run_picture()),
                   "export save png"});
  }
  if (snapshot.run || (inspects() && snapshot.inspect)) {
    out.push_back({"Copy this view", "",
                   send(CopyText{"shardlens --view '" + address_text(address(snapshot)) + "'"}),
                   "copy link view address share"});
  }
  if (snapshot.run) {
    out.push_back({"Export this run as one file", "",
                   send(PackRun{snapshot.run->figures.info.folder}), "export pack save share"});
  }
  if (!snapshot.ledger) return;
  if (const auto deleted = snapshot.ledger->deleted; deleted > 0) {
    out.push_back({undo_text(deleted), "", send(UndoDelete{}), "undo restore deleted runs"});
  }
  for (const LedgerRow& row : snapshot.ledger->rows) {
    out.push_back({"Open run: " + row.name, "", send(ShowRun{row.folder}), "open run " + row.name});
  }
}

std::vector<Action> MainView::actions(const Snapshot& snapshot, Commands& commands) {
  std::vector<Action> out;
  if (!palette_.is_open()) return out;
  const auto send = [&commands](Command command) {
    return [&commands, command] { commands.push_back(command); };
  };
  if (can_start(snapshot)) {
    const StartControls controls = start_controls(snapshot);
    out.push_back({controls.label + " · " + controls.detail, "Ctrl+Enter", send(StartRun{}),
                   "Start the run, queue, train", true});
    if (!controls.stop_and_start.empty()) {
      out.push_back({controls.stop_and_start, "", send(StartRun{.stop_current = true}),
                     controls.stop_and_start, true});
    }
  }
  if (snapshot.job.phase != JobPhase::kNone) {
    out.push_back({"Stop the run", "", send(StopRun{}), "Stop the run, end", true});
  }
  if (!snapshot.job.queued.empty()) {
    out.push_back(
        {"Cancel all queued runs", "", send(CancelQueued{}), "Cancel the queued runs", true});
  }
  add_file_actions(out, snapshot, commands);
  out.push_back({"Plan: what every strategy would need", "P", send(OpenPlan{})});
  out.push_back({"Reset settings to the baseline", "", send(ResetKnobs{})});
  if (snapshot.replay.active) {
    out.push_back({snapshot.replay.playing ? "Pause the replay" : "Play the replay", "Space",
                   send(SetReplayPlaying{!snapshot.replay.playing})});
    out.push_back({"Leave the replay", "", send(StopReplay{})});
  } else if (snapshot.run) {
    out.push_back({"Replay this run", "", send(StartReplay{snapshot.run->figures.info.folder})});
  }
  out.push_back({"Follow the latest step", "Space", send(SelectStep{-1})});
  add_view_actions(out);
  out.push_back({"Quit", "", send(Quit{}), "Quit, exit, close the window", true});
  return out;
}

}  // namespace shardlens::ui
