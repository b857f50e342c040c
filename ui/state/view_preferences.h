// What the window remembers between starts; kept by `app`. Plain values, any thread.
#pragma once

#include <string>

#include "ui/state/palette.h"

namespace shardlens::ui::state {

inline constexpr const char* kTuneWorkspace = "tune";
inline constexpr const char* kInspectWorkspace = "inspect";
inline constexpr const char* kCompareWorkspace = "compare";
inline constexpr const char* kLearnWorkspace = "learn";  // one of the others, beside a lesson

struct PanelFolds {
  bool knobs = false, dock = false;

  bool operator==(const PanelFolds&) const = default;
};

struct ViewPreferences {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;
  bool present_mode = false;  // light, 1.5 ×, knobs and ledger folded, keys shown
  PanelFolds folds;           // while nothing is presented
  std::string workspace = kTuneWorkspace;
  float inspect_tabs_share = 0.36f;     // of the height that timeline and tabs have together
  std::string inspect_tab = "Kernels";  // its title

  bool operator==(const ViewPreferences&) const = default;
};

inline constexpr float kSmallestScale = 0.75f, kLargestScale = 3.0f, kPresentScale = 1.5f;

}  // namespace shardlens::ui::state
