#include "ui/window/main_view.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "trace/analysis/compare/run_difference.h"
#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/kit/paint.h"
#include "ui/kit/popup.h"
#include "ui/learn/learning_chart.h"
#include "ui/sweep/sweep_card.h"
#include "ui/tune/panels.h"
#include "ui/window/close_card.h"
#include "ui/window/help_overlay.h"
#include "ui/window/message_strips.h"
#include "ui/window/session_actions.h"

namespace shardlens::ui::window {

namespace {

constexpr float kKeyLineHeight = 32;
// What the panels need in present mode, in lengths of scale 1.
constexpr float kPresentWidth = 900, kPresentHeight = 600;
// ImGui needs a frame to open a pop-up, one to size it, one to draw it.
constexpr int kSettleFrames = 4;

bool any_input(const ImGuiIO& io) {
  const auto any = [](const auto& flags) {
    return std::ranges::find(flags, true) != std::end(flags);
  };
  return io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 || any(io.MouseDown) ||
         any(io.MouseReleased) || any(io.KeysDown);
}

constexpr float kScaleStep = 0.125f;

bool has_sweep_card(const state::Snapshot& snapshot) {
  return snapshot.sweep && snapshot.sweep->card;
}

void add_timeline_actions(std::vector<Action>& out, inspect::TimelineState& state) {
  out.push_back({"Fit the timeline", "F", [&state] { state.shown_window().fit(); }});
  out.push_back({"Measure on the timeline", "M", [&state] { inspect::toggle_measure(state); }});
}

}  // namespace

MainView::MainView(state::ViewPreferences preferences) { set_preferences(std::move(preferences)); }

void MainView::set_preferences(state::ViewPreferences preferences) {
  preferences_ = std::move(preferences);
  if (!std::isfinite(preferences_.scale)) preferences_.scale = 1;
  preferences_.scale = std::clamp(preferences_.scale, state::kSmallestScale, state::kLargestScale);
  settling_ = kSettleFrames;
}

float MainView::effective_scale() const {
  if (!preferences_.present_mode) return preferences_.scale;
  const float wanted = preferences_.scale * state::kPresentScale;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (size.x <= 0 || size.y <= 0) return wanted;  // before the first frame
  // A small projector keeps all panels: in eighths, so that resizing rarely makes new fonts.
  const float room = std::min(size.x / kPresentWidth, size.y / kPresentHeight);
  return std::max(preferences_.scale, std::min(wanted, std::floor(room * 8) / 8));
}

bool MainView::prepare_fonts(ImFontAtlas& atlas) {
  if (fonts_scale_ == effective_scale()) return false;
  fonts_scale_ = effective_scale();
  fonts_ = kit::rebuild_fonts(atlas, fonts_scale_);
  settling_ = kSettleFrames;
  return true;
}

kit::Theme MainView::make_look() {
  kit::Theme theme;
  theme.palette =
      &state::palette(preferences_.present_mode ? state::ThemeKind::kLight : preferences_.theme);
  theme.fonts = fonts_;
  theme.scale = fonts_scale_;
  theme.present = preferences_.present_mode;
  theme.probe = probe_;
  theme.focus = &focus_;
  return theme;
}

void MainView::note_activity(const state::Snapshot& snapshot) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const bool resized = size.x != seen_width_ || size.y != seen_height_;  // may ask for other fonts
  seen_width_ = size.x;
  seen_height_ = size.y;
  if (resized || any_input(ImGui::GetIO()) || snapshot.version != seen_version_) {
    settling_ = kSettleFrames;
  } else if (settling_ > 0) {
    --settling_;
  }
  seen_version_ = snapshot.version;
}

void MainView::draw_inspect(const kit::Theme& theme, const state::Rect& area,
                            const state::Snapshot& snapshot, state::Commands& commands) {
  state::Rect rest = area.inset(theme.px(8), 0);
  rest.take_bottom(theme.px(8));
  if (snapshot.replay.active) {
    tune::draw_replay_bar(theme, rest.take_top(theme.px(tune::kReplayHeight), theme.px(8)),
                          snapshot, commands);
  }
  const std::string tab = preferences_.inspect_tab;
  inspect_.draw(theme, rest, snapshot, workspace_has_keys(snapshot), preferences_, commands);
  // A page's is none that the user has chosen, also in the frame in which it is left.
  if (learns() || learn_.is_entered()) preferences_.inspect_tab = tab;
}

void MainView::draw_workspace(const kit::Theme& theme, const tune::TuneLayout& layout,
                              const state::Rect& area, const state::Snapshot& snapshot,
                              state::Commands& commands) {
  const bool keys = workspace_has_keys(snapshot);
  if (!inspects() && !compares()) {
    return workspace_.draw(theme, layout, snapshot, keys, folds().dock, commands);
  }
  const state::Rect& above = layout.messages.empty() ? layout.top_bar : layout.messages;
  const float top = above.bottom() + theme.px(8);
  const float left = layout.lesson.empty() ? area.x : layout.lesson.right();
  const state::Rect below{left, top, area.right() - left, area.bottom() - top};
  if (inspects()) return draw_inspect(theme, below, snapshot, commands);
  state::Rect rest = below.inset(theme.px(8), 0);
  rest.take_bottom(theme.px(8));
  compare_.draw(theme, rest, snapshot, keys, commands);
}

void MainView::make_way_for_run() {
  if (compares()) shown_workspace() = state::kTuneWorkspace;
}

// What was asked for is shown where its answer comes.
void MainView::show_answers(std::size_t first, const state::Commands& commands) {
  for (std::size_t i = first; i < commands.size(); ++i) {
    if (std::holds_alternative<state::ShowRun>(commands[i]) ||
        std::holds_alternative<state::StartReplay>(commands[i]) ||
        std::holds_alternative<state::OpenFiles>(commands[i])) {
      make_way_for_run();
    }
    const bool compares_runs = std::holds_alternative<state::CompareRuns>(commands[i]);
    if (!compares_runs && !std::holds_alternative<state::StartSweep>(commands[i])) continue;
    shown_workspace() = state::kCompareWorkspace;
    compare_.show(compares_runs ? "Runs" : "Sweep");
  }
}

tune::LayoutInput MainView::layout_input(const kit::Theme& theme, const state::Rect& area,
                                         const state::Snapshot& snapshot,
                                         const std::vector<present::Message>& messages) {
  tune::LayoutInput input;
  input.width = area.w;
  input.height = area.h;
  input.scale = theme.scale;
  float words = area.w - theme.px(2 * tune::kPanelGap);
  if (learns()) {
    input.lesson_width = lesson::LearnWorkspace::column_width(theme, area.w);
    words -= input.lesson_width + theme.px(tune::kPanelGap);
  }
  input.messages_height = messages_height(theme, words, messages);
  if (snapshot.ledger) input.dock_rows = static_cast<int>(snapshot.ledger->rows.size());
  input.replay = snapshot.replay.active;
  input.learns = snapshot.run && learn::has_learning(snapshot.run->figures);
  input.lacks_memory = tune::lacks_memory(snapshot);
  input.fold_knobs = folds().knobs;
  input.fold_dock = folds().dock;
  input.open_dock = workspace_.opens_dock();
  return input;
}

void MainView::draw_window(const kit::Theme& theme, const state::Rect& window,
                           const state::Snapshot& snapshot, state::Commands& commands) {
  state::Rect area = window;
  state::Rect keys;
  if (theme.present) keys = area.take_bottom(theme.px(kKeyLineHeight));
  const std::vector<present::Message> messages = present::messages(snapshot, inspects());
  const tune::TuneLayout layout = tune::tune_layout(layout_input(theme, area, snapshot, messages));

  const TopBarResult bar =
      draw_top_bar(theme, layout.top_bar,
                   {preferences_.workspace, snapshot, top_figures_.of(snapshot.run)}, commands);
  if (bar.toggle_theme) choose_other_theme();
  if (bar.toggle_help) help_ = !help_;
  if (!layout.messages.empty()) draw_messages(theme, layout.messages, messages);
  if (learns()) learn_.draw(theme, layout.lesson, snapshot, commands);
  draw_workspace(theme, layout, area, snapshot, commands);
  if (!bar.workspace.empty()) preferences_.workspace = bar.workspace;
  if (theme.present) draw_key_line(theme, keys.inset(theme.px(16), 0), learns());
}

void MainView::draw(const state::Snapshot& snapshot, state::Commands& commands) {
  note_activity(snapshot);
  const kit::Theme theme = make_look();
  if (probe_ != nullptr) probe_->begin_frame();
  kit::apply_style(theme);
  ImGui::GetIO().ConfigInputTextCursorBlink = false;  // a blinking cursor would keep frames coming
  const std::size_t first_command = commands.size();
  focus_.begin_frame(!palette_.is_open());
  handle_keys(snapshot, commands);
  const bool keeps_enter = palette_.is_open() || kit::has_popup();

  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const state::Rect window{0, 0, size.x, size.y};
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::Begin("##shardlens", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PushFont(theme.font(kit::Face::kBody));
  draw_window(theme, window, snapshot, commands);
  ImGui::PopFont();
  ImGui::End();

  tune_wish_.fulfil(snapshot, commands);
  if (snapshot.asks_to_close) {
    draw_close_card(theme, window, snapshot, commands);
  } else {
    draw_overlays(theme, window, snapshot, commands);
  }
  focus_.end_frame(theme);
  show_answers(first_command, commands);
  follow_lessons(snapshot, commands);
  start_by_key(snapshot, keeps_enter, first_command, commands);
}

void MainView::draw_overlays(const kit::Theme& theme, const state::Rect& window,
                             const state::Snapshot& snapshot, state::Commands& commands) {
  plan_.draw(theme, window, snapshot, commands);
  sweep::draw_sweep_card(theme, window, snapshot, commands);
  const bool closes_help =
      help_ && draw_help_overlay(theme, window, key_hints(shown_workspace(), learns()));
  if (closes_help) help_ = false;
  palette_.draw(
      theme, window, actions(snapshot, commands),
      [this](std::string_view knob) {
        folds().knobs = false;
        shown_workspace() = state::kTuneWorkspace;
        workspace_.knobs().reveal(knob);
      },
      commands);
}

void MainView::choose_other_theme() {
  if (preferences_.present_mode) return;  // which is light
  preferences_.theme = preferences_.theme == state::ThemeKind::kDark ? state::ThemeKind::kLight
                                                                     : state::ThemeKind::kDark;
}

void MainView::present(bool presents) {
  preferences_.present_mode = presents;
  present_folds_ = {.knobs = true, .dock = true};
}

void MainView::change_scale(float steps) {
  const float wanted = steps == 0 ? 1 : preferences_.scale + steps * kScaleStep;
  preferences_.scale = std::clamp(wanted, state::kSmallestScale, state::kLargestScale);
}

void MainView::follow_or_pause(const state::Snapshot& snapshot, state::Commands& commands) {
  if (snapshot.replay.active) {
    commands.push_back(state::SetReplayPlaying{!snapshot.replay.playing});
  } else if (snapshot.run) {
    commands.push_back(
        state::SelectStep{snapshot.run->follows_live ? snapshot.run->selected_step : -1});
  }
}

bool MainView::keys_are_free(const state::Snapshot& snapshot) const {
  return !ImGui::GetIO().WantTextInput && !palette_.is_open() && !help_ && !snapshot.plan &&
         !has_sweep_card(snapshot) && !snapshot.asks_to_close && !kit::has_popup() &&
         !focus_.took_key();
}

bool MainView::workspace_has_keys(const state::Snapshot& snapshot) const {
  return keys_are_free(snapshot) && !ImGui::GetIO().KeyCtrl;
}

void MainView::handle_keys(const state::Snapshot& snapshot, state::Commands& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  if (kit::key_pressed(kit::Key::kF11, false)) present(!preferences_.present_mode);
  if (snapshot.asks_to_close) palette_.close();
  if (io.KeyCtrl) {
    if (kit::key_pressed(kit::Key::kEqual) || kit::key_pressed(kit::Key::kPadPlus)) change_scale(1);
    if (kit::key_pressed(kit::Key::kMinus) || kit::key_pressed(kit::Key::kPadMinus))
      change_scale(-1);
    if (kit::key_pressed(kit::Key::kZero, false) || kit::key_pressed(kit::Key::kPadZero, false))
      change_scale(0);
    if (kit::key_pressed(kit::Key::kK, false) && !snapshot.asks_to_close)
      palette_.is_open() ? palette_.close() : palette_.open();
    if (kit::key_pressed(kit::Key::kB, false)) folds().knobs = !folds().knobs;
    if (kit::key_pressed(kit::Key::kT, false)) choose_other_theme();
    for (int i = 0; i < static_cast<int>(std::size(kWorkspaces)); ++i) {
      const auto key = static_cast<kit::Key>(static_cast<int>(kit::Key::kOne) + i);
      if (kit::key_pressed(key, false)) preferences_.workspace = kWorkspaces[i].id;
    }
    if (kit::key_pressed(kit::Key::kF, false) && inspects()) inspect_.find();
    return;
  }
  if (io.WantTextInput || palette_.is_open() || snapshot.asks_to_close || kit::has_popup()) return;
  if (kit::typed('?')) help_ = !help_;
  if (help_ || has_sweep_card(snapshot)) return;
  if (kit::key_pressed(kit::Key::kP, false)) {
    commands.push_back(state::ShowPlan{snapshot.plan == nullptr});
  }
  if (!keys_are_free(snapshot)) return;
  if (learns()) learn_.use_keys();
  if (compares()) return;  // what Tune shows is not on screen there
  if (kit::key_pressed(kit::Key::kSpace, false)) follow_or_pause(snapshot, commands);
  if (inspects()) return;  // its other keys are obeyed where it draws
  for (const auto& [key, direction] :
       {std::pair{kit::Key::kLeft, -1}, std::pair{kit::Key::kRight, 1}}) {
    if (!kit::key_pressed(key)) continue;
    const std::int64_t step = tune::neighbour_step(snapshot, direction);
    if (step >= 0) commands.push_back(state::SelectStep{step});
  }
}

void MainView::start_by_key(const state::Snapshot& snapshot, bool keeps_enter, std::size_t first,
                            state::Commands& commands) const {
  if (!ImGui::GetIO().KeyCtrl || !kit::enter_pressed() || help_) return;
  // What lies on top is not a run.
  if (snapshot.plan || has_sweep_card(snapshot) || snapshot.asks_to_close) return;
  const auto sets = [](const state::Command& command) {
    return std::holds_alternative<state::SetKnob>(command);
  };
  const bool edited =
      std::any_of(commands.begin() + static_cast<std::ptrdiff_t>(first), commands.end(), sets);
  if (keeps_enter && !edited) return;                     // what the palette or a menu is at
  if (inspects() && inspect_.tabs().edits_sql()) return;  // a query was meant
  commands.push_back(state::StartRun{});  // where that cannot be, the answer says why
}

void MainView::add_tune_actions(std::vector<Action>& out) {
  using Tab = tune::DockPanel::Tab;
  add_timeline_actions(out, workspace_.timeline().state());
  const auto show = [this](Tab tab) { return [this, tab] { show_in_dock(tab); }; };
  out.push_back({"Show the ledger of runs", "", show(Tab::kRuns)});
  out.push_back({"Show all predictions beside what was measured", "", show(Tab::kPredictions)});
  out.push_back({"Show the log", "", show(Tab::kLog)});
}

void MainView::add_inspect_actions(std::vector<Action>& out) {
  using Mode = inspect::TimelineState::Mode;
  inspect::TimelineState& state = inspect_.timeline().state();
  add_timeline_actions(out, state);
  out.push_back(
      {"Zoom to the selection", "Enter", [this] { inspect_.timeline().zoom_to_selection(); }});
  out.push_back({"Find names", "Ctrl+F", [this] { inspect_.find(); }});
  const bool steps = state.mode == Mode::kSteps;
  out.push_back({steps ? "Timeline by the clock" : "Steps one above the other", "",
                 [&state, steps] { state.mode = steps ? Mode::kTime : Mode::kSteps; }});
  out.push_back(
      {state.aligned_by_step ? "Align ranks by their clocks" : "Align ranks by their step", "",
       [&state] { state.aligned_by_step = !state.aligned_by_step; }});
  for (const std::string_view title : state::kInspectTabTitles) {
    out.push_back({"Show: " + std::string(title), "",
                   [this, title] { inspect_.tabs().show(state::tab_of_title(title)); }});
  }
}

void MainView::add_lesson_actions(std::vector<Action>& out) {
  lesson::LessonReader& reader = learn_.reader();
  out.push_back({"All lessons", "", [&reader] { reader.go_to_shelf(); }});
  if (reader.page() == nullptr) return;
  out.push_back({"Next page of the lesson", "PageDown", [&reader] { reader.go_on(); }});
  out.push_back({"Previous page of the lesson", "PageUp", [&reader] { reader.go_back(); }});
  if (!reader.has_view()) return;
  out.push_back({"Show this page's view again", "", [&reader] { reader.show_view_again(); }});
}

void MainView::add_view_actions(std::vector<Action>& out) {
  if (inspects()) {
    add_inspect_actions(out);
  } else if (!compares()) {
    add_tune_actions(out);
  }
  for (const WorkspaceTab& tab : kWorkspaces) {
    out.push_back({"Workspace: " + std::string(tab.label), std::string(tab.keys),
                   [this, &tab] { preferences_.workspace = tab.id; }, tab.words});
  }
  if (learns()) add_lesson_actions(out);
  out.push_back({"Show: Sweeps", "",
                 [this] {
                   shown_workspace() = state::kCompareWorkspace;
                   compare_.show("Sweep");
                 },
                 "sweeps curve heat map pareto"});
  if (!preferences_.present_mode) {
    out.push_back(
        {"Dark or light theme", "Ctrl+T", [this] { choose_other_theme(); }, "theme colours"});
  }
  out.push_back({"Present mode", "F11", [this] { present(!preferences_.present_mode); }});
  out.push_back({"Larger scale", "Ctrl++", [this] { change_scale(1); }, "scale zoom"});
  out.push_back({"Smaller scale", "Ctrl+−", [this] { change_scale(-1); }, "scale zoom"});
  out.push_back({"Normal scale", "Ctrl+0", [this] { change_scale(0); }, "scale zoom"});
  out.push_back(
      {"Fold or unfold the settings", "Ctrl+B", [this] { folds().knobs = !folds().knobs; }});
  out.push_back({"Show the keys", "?", [this] { help_ = true; }});
}

void MainView::go_to(const state::ViewAddress& address) {
  preferences_.workspace = address.workspace;
  open(address);
}

void MainView::open_lesson(int lesson, int page) {
  preferences_.workspace = state::kLearnWorkspace;
  if (lesson < 0) return learn_.reader().go_to_shelf();
  learn_.reader().open(static_cast<std::size_t>(lesson), static_cast<std::size_t>(page));
}

void MainView::open(const state::ViewAddress& address) {
  shown_workspace() = address.workspace;
  tune_wish_.drop();
  if (address.workspace == state::kTuneWorkspace) {
    tune_wish_.ask(address, learns());
  } else if (address.workspace == state::kCompareWorkspace) {
    compare_.show("Runs");
  } else {
    inspect_.go_to(address);
  }
}

void MainView::follow_lessons(const state::Snapshot& snapshot, state::Commands& commands) {
  const auto turn = learn_.follow(preferences_.workspace, snapshot, commands);
  if (turn.entered) {
    compare_tab_before_lessons_ = compare_.shown();
    // What was left a moment ago may still be on its way, and a page's run on screen.
    before_lessons_ = inspect_.destination();
    const bool is_of_run = snapshot.inspect && snapshot.run &&
                           snapshot.run->figures.info.folder == snapshot.inspect->run_folder;
    if (!before_lessons_ && is_of_run) before_lessons_ = inspect_.address(*snapshot.inspect);
  }
  if (turn.left) {
    tune_wish_.drop();
    compare_.show(compare_tab_before_lessons_);
    inspect_.tabs().show(state::tab_of_title(preferences_.inspect_tab));
    before_lessons_ ? inspect_.go_to(*before_lessons_) : inspect_.stay();
  }
  if (turn.arrived) open(*turn.arrived);
}

bool MainView::has_address(const state::Snapshot& snapshot) const {
  if (compares()) {
    return compare_.shows_runs() && snapshot.comparison &&
           snapshot.comparison->runs.size() >= trace::analysis::kFewestCompared;
  }
  return snapshot.run || (inspects() && snapshot.inspect);
}

state::ViewAddress MainView::address(const state::Snapshot& snapshot) const {
  if (compares()) return compared_address(*snapshot.comparison);
  if (inspects() && snapshot.inspect) return inspect_.address(*snapshot.inspect);
  return tune_address(snapshot);
}

void MainView::add_file_actions(std::vector<Action>& out, const state::Snapshot& snapshot,
                                state::Commands& commands) {
  const auto send = sender(commands);
  out.push_back({"Open a run or a trace…", "", [this] { palette_.open("open "); }, "open file",
                 false, "open "});
  out.push_back({"Import a trace of PyTorch's profiler…", "", [this] { palette_.open("import "); },
                 "import kineto json", false, "import "});
  if (inspects() && snapshot.inspect) {
    out.push_back({"Export a picture of the timeline", "", send(inspect_.timeline_picture()),
                   "export save png"});
    out.push_back({"Export a picture of the whole run", "", send(inspect_.whole_run_picture()),
                   "export save png"});
  }
  if (has_address(snapshot)) {
    out.push_back(
        {"Copy this view", "",
         send(state::CopyText{"shardlens --view '" + state::address_text(address(snapshot)) + "'"}),
         "copy link view address share"});
  }
  add_library_actions(out, snapshot, commands);
}

std::vector<Action> MainView::actions(const state::Snapshot& snapshot, state::Commands& commands) {
  std::vector<Action> out;
  if (!palette_.is_open()) return out;
  add_job_actions(out, snapshot, commands);
  add_file_actions(out, snapshot, commands);
  add_tuning_actions(out, snapshot, commands);
  add_replay_actions(out, snapshot, commands);
  add_view_actions(out);
  out.push_back(
      {"Quit", "", sender(commands)(state::Quit{}), "Quit, exit, close the window", true});
  return out;
}

}  // namespace shardlens::ui::window
