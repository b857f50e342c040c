// The tables below Inspect's timeline. Addresses, preferences and commands name them by their
// titles; which of them a run has is told by its rows. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "trace/base/text.h"

namespace shardlens::ui::state {

// First those of trace::timeline::StatisticsTable, in its order.
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
