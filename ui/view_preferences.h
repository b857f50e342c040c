// What the window remembers between starts; kept by `app`. Plain values, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/palette.h"

namespace shardlens::ui {

inline constexpr const char* kTuneWorkspace = "tune";
inline constexpr const char* kInspectWorkspace = "inspect";

// A place of a run that is to be found again.
struct Bookmark {
  std::int64_t time_ns = 0;  // absolute
  std::string label;         // of the event or selection there; "" for a bare time

  bool operator==(const Bookmark&) const = default;
};

struct ViewPreferences {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;
  bool present_mode = false;  // light, 1.5 ×, knobs and ledger folded, keys shown
  bool fold_knobs = false;
  bool fold_dock = false;
  std::string workspace = kTuneWorkspace;
  float inspect_tabs_share = 0.36f;     // of the height that timeline and tabs have together
  std::string inspect_tab = "Kernels";  // its title
  std::map<std::string, std::vector<Bookmark>> bookmarks;  // by a run folder's name, then by time

  bool operator==(const ViewPreferences&) const = default;
};

inline constexpr float kSmallestScale = 0.75f, kLargestScale = 3.0f, kPresentScale = 1.5f;

}  // namespace shardlens::ui
