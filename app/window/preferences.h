// What the window remembers between two starts. Plain values; interface thread only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/base/result.h"
#include "ui/state/view_preferences.h"

namespace shardlens::app::window {

struct Preferences {
  int width = 1600;
  int height = 1000;
  bool maximized = false;
  double replay_speed = 1;  // of the last replay
  ui::state::ViewPreferences view;

  bool operator==(const Preferences&) const = default;
};

// Flat "key: value" lines. What is unknown or out of range is left at its default: a preference
// must never keep the window from opening.
Preferences parse_preferences(std::string_view text);
std::string format_preferences(const Preferences& preferences);

// A missing file, or "" for none, gives the defaults.
Preferences load_preferences(const std::filesystem::path& file);
// Writes a new file and renames it; creates the folder. Does nothing for "".
trace::base::Result<void> save_preferences(const std::filesystem::path& file,
                                           const Preferences& preferences);

}  // namespace shardlens::app::window
