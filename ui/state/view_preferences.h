// Workspaces and tabs by their names, and what the window remembers between starts; kept by `app`.
// Plain values, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/base/text.h"
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

// The tables below Inspect's timeline. Addresses, preferences and commands name them by their
// titles; which of them a run has is told by its rows. First those of
// trace::timeline::StatisticsTable, in its order.
enum class InspectTab : std::uint8_t {
  kKernels,
  kOperators,
  kCollectives,
  kCopies,
  kLaunches,
  kMemory,
  kSteps,
  kStragglers,
  kSql,
  kRecording,
  kLog,
};

inline constexpr std::array<std::string_view, 11> kInspectTabTitles{
    "Kernels", "Operators",  "Collectives", "Copies",    "Launches", "Memory",
    "Steps",   "Stragglers", "SQL",         "Recording", "Log"};

constexpr std::string_view tab_title(InspectTab tab) {
  return trace::base::enum_name<InspectTab::kLog>(kInspectTabTitles, tab);
}

// kKernels for any other text.
constexpr InspectTab tab_of_title(std::string_view title) {
  const auto found = std::ranges::find(kInspectTabTitles, title);
  return found == kInspectTabTitles.end()
             ? InspectTab::kKernels
             : static_cast<InspectTab>(found - kInspectTabTitles.begin());
}

}  // namespace shardlens::ui::state
