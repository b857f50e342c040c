#include "app/window/preferences.h"

#include <algorithm>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::window {

namespace fs = std::filesystem;

namespace {

template <typename Number>
void take_number(Number& target, std::string_view text, Number least, Number most) {
  const auto value = trace::base::number_from<Number>(text);
  if (value && *value >= least && *value <= most) target = *value;
}

void take_flag(bool& target, std::string_view text) {
  if (text == "true") target = true;
  if (text == "false") target = false;
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return text;
}

void take(Preferences& preferences, std::string_view key, std::string_view value) {
  auto& view = preferences.view;
  if (key == "width") take_number(preferences.width, value, 320, 16384);
  if (key == "height") take_number(preferences.height, value, 240, 16384);
  if (key == "maximized") take_flag(preferences.maximized, value);
  if (key == "replay_speed") {
    take_number(preferences.replay_speed, value, ui::state::kSlowestReplay,
                ui::state::kFastestReplay);
  }
  if (key == "theme" && value == "dark") view.theme = ui::state::ThemeKind::kDark;
  if (key == "theme" && value == "light") view.theme = ui::state::ThemeKind::kLight;
  if (key == "scale")
    take_number(view.scale, value, ui::state::kSmallestScale, ui::state::kLargestScale);
  if (key == "workspace" && !value.empty()) view.workspace = value;
  if (key == "present") take_flag(view.present_mode, value);
  if (key == "fold_knobs") take_flag(view.folds.knobs, value);
  if (key == "fold_dock") take_flag(view.folds.dock, value);
  if (key == "inspect_tabs_share") take_number(view.inspect_tabs_share, value, 0.0f, 1.0f);
  if (key == "inspect_tab" && !value.empty()) view.inspect_tab = value;
}

}  // namespace

Preferences parse_preferences(std::string_view text) {
  Preferences preferences;
  for (const auto line : trace::base::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('#')) continue;
    take(preferences, trace::base::trimmed(line.substr(0, colon)),
         trace::base::trimmed(line.substr(colon + 1)));
  }
  return preferences;
}

std::string format_preferences(const Preferences& preferences) {
  const auto& view = preferences.view;
  const auto flag = [](bool value) { return value ? "true\n" : "false\n"; };
  std::string text = "# Written by the window of Shardlens when it closes\n";
  text += "width: " + std::to_string(preferences.width) + "\n";
  text += "height: " + std::to_string(preferences.height) + "\n";
  text += std::string("maximized: ") + flag(preferences.maximized);
  text += "replay_speed: " + trace::base::shortest_text(preferences.replay_speed) + "\n";
  text +=
      std::string("theme: ") + (view.theme == ui::state::ThemeKind::kLight ? "light\n" : "dark\n");
  text += "scale: " + trace::base::shortest_text(view.scale) + "\n";
  text += "workspace: " + view.workspace + "\n";
  text += std::string("present: ") + flag(view.present_mode);
  text += std::string("fold_knobs: ") + flag(view.folds.knobs);
  text += std::string("fold_dock: ") + flag(view.folds.dock);
  text += "inspect_tabs_share: " + trace::base::shortest_text(view.inspect_tabs_share) + "\n";
  text += "inspect_tab: " + on_one_line(view.inspect_tab) + "\n";
  return text;
}

Preferences load_preferences(const fs::path& file) {
  if (file.empty()) return {};
  return parse_preferences(trace::base::whole_text(file).value_or(""));
}

trace::base::Result<void> save_preferences(const fs::path& file, const Preferences& preferences) {
  if (file.empty()) return {};
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (!trace::base::replace_text(file, format_preferences(preferences))) return {};
  return trace::base::fail(
      trace::base::ErrorKind::kIo,
      "Could not save the window's preferences in " + file.string() + ". Is the folder writable?");
}

}  // namespace shardlens::app::window
