#include "ui/window/main_view.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/kit/paint.h"
#include "ui/learn/learning_chart.h"
#include "ui/present/job_text.h"
#include "ui/tune/replay_bar.h"
#include "ui/window/help_overlay.h"
#include "ui/window/top_bar.h"

namespace shardlens::ui {

namespace {

constexpr float kKeyLineHeight = 32;
// What the panels need in present mode, in lengths of scale 1.
constexpr float kPresentWidth = 900, kPresentHeight = 600;
// ImGui needs a frame to open a pop-up, one to size it, one to draw it.
constexpr int kSettleFrames = 4;

bool any_input(const ImGuiIO& io) {
  if (io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0) return true;
  for (const bool down : io.MouseDown) {
    if (down) return true;
  }
  for (int i = 0; i < 5; ++i) {
    if (io.MouseReleased[i]) return true;
  }
  return std::any_of(std::begin(io.KeysDown), std::end(io.KeysDown),
                     [](bool down) { return down; });
}

}  // namespace

MainView::MainView(ViewPreferences preferences) { set_preferences(std::move(preferences)); }

void MainView::set_preferences(ViewPreferences preferences) {
  preferences_ = std::move(preferences);
  if (!std::isfinite(preferences_.scale)) preferences_.scale = 1;
  preferences_.scale = std::clamp(preferences_.scale, kSmallestScale, kLargestScale);
  settling_ = kSettleFrames;
}

float MainView::effective_scale() const {
  if (!preferences_.present_mode) return preferences_.scale;
  const float wanted = preferences_.scale * kPresentScale;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (size.x <= 0 || size.y <= 0) return wanted;  // before the first frame
  // A small projector keeps all panels: in eighths, so that resizing rarely makes new fonts.
  const float room = std::min(size.x / kPresentWidth, size.y / kPresentHeight);
  return std::max(preferences_.scale, std::min(wanted, std::floor(room * 8) / 8));
}

bool MainView::prepare_fonts(ImFontAtlas& atlas) {
  if (fonts_scale_ == effective_scale()) return false;
  fonts_scale_ = effective_scale();
  fonts_ = rebuild_fonts(atlas, fonts_scale_);
  settling_ = kSettleFrames;
  return true;
}

Theme MainView::make_look() {
  Theme theme;
  theme.kind = preferences_.present_mode ? ThemeKind::kLight : preferences_.theme;
  theme.palette = &palette(theme.kind);
  theme.fonts = fonts_;
  theme.scale = fonts_scale_;
  theme.present = preferences_.present_mode;
  theme.probe = probe_;
  theme.focus = &focus_;
  return theme;
}

void MainView::note_activity(const Snapshot& snapshot) {
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

void MainView::draw_inspect(const Theme& theme, const Rect& area, const Snapshot& snapshot,
                            Commands& commands) {
  Rect rest = area.inset(theme.px(8), 0);
  rest.take_bottom(theme.px(8));
  if (snapshot.replay.active) {
    draw_replay_bar(theme, rest.take_top(theme.px(kReplayHeight), theme.px(8)), snapshot, commands);
  }
  inspect_.draw(theme, rest, snapshot, workspace_has_keys(snapshot), preferences_, commands);
}

void MainView::draw_window(const Theme& theme, const Rect& window, const Snapshot& snapshot,
                           Commands& commands) {
  Rect area = window;
  Rect keys;
  if (theme.present) keys = area.take_bottom(theme.px(kKeyLineHeight));
  LayoutInput input;
  input.width = area.w;
  input.height = area.h;
  input.scale = theme.scale;
  const std::vector<Message> lines = messages(snapshot);
  input.message_lines = static_cast<int>(lines.size());
  if (snapshot.ledger) input.dock_rows = static_cast<int>(snapshot.ledger->rows.size());
  input.replay = snapshot.replay.active;
  input.learns = snapshot.run && has_learning(snapshot.run->figures);
  input.fold_knobs = preferences_.fold_knobs || theme.present;
  input.fold_dock = preferences_.fold_dock || (theme.present && !workspace_.opens_dock());
  input.open_dock = workspace_.opens_dock();
  const TuneLayout layout = tune_layout(input);

  const TopBarResult bar =
      draw_top_bar(theme, layout.top_bar, preferences_.workspace, snapshot, commands);
  if (bar.toggle_theme) {
    preferences_.theme = theme.kind == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark;
  }
  if (bar.toggle_help) help_ = !help_;
  if (!layout.messages.empty()) draw_messages(theme, layout.messages, lines);
  if (inspects()) {
    const Rect& above = layout.messages.empty() ? layout.top_bar : layout.messages;
    const float top = above.bottom() + theme.px(8);
    draw_inspect(theme, {area.x, top, area.w, area.bottom() - top}, snapshot, commands);
  } else {
    workspace_.draw(theme, layout, snapshot, workspace_has_keys(snapshot), preferences_, commands);
  }
  if (!bar.workspace.empty()) preferences_.workspace = bar.workspace;
  if (theme.present) draw_key_line(theme, keys.inset(theme.px(16), 0));
}

void MainView::draw(const Snapshot& snapshot, Commands& commands) {
  note_activity(snapshot);
  const Theme theme = make_look();
  if (probe_ != nullptr) probe_->begin_frame();
  apply_style(theme);
  ImGui::GetIO().ConfigInputTextCursorBlink = false;  // a blinking cursor would keep frames coming
  const std::size_t first_command = commands.size();
  focus_.begin_frame(!palette_.is_open());
  handle_keys(snapshot, commands);
  const bool palette_open = palette_.is_open();

  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Rect window{0, 0, size.x, size.y};
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::Begin("##shardlens", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PushFont(theme.font(Face::kBody));
  draw_window(theme, window, snapshot, commands);
  ImGui::PopFont();
  ImGui::End();

  if (wanted_ && snapshot.run &&
      std::filesystem::path(snapshot.run->figures.info.folder).filename() == wanted_->run) {
    if (wanted_->step >= 0) commands.push_back(SelectStep{wanted_->step});
    wanted_.reset();
  }
  plan_.draw(theme, window, snapshot, commands);
  const auto hints = inspects() ? inspect_key_hints() : key_hints();
  if (help_ && draw_help_overlay(theme, window, hints)) help_ = false;
  palette_.draw(
      theme, window, actions(snapshot, commands),
      [this](std::string_view knob) {
        preferences_.fold_knobs = false;
        preferences_.workspace = kTuneWorkspace;
        workspace_.knobs().reveal(knob);
      },
      commands);
  focus_.end_frame(theme);
  start_by_key(snapshot, palette_open, first_command, commands);
}

}  // namespace shardlens::ui
