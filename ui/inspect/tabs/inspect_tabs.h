// Below the timeline: tables of what is in the selected range, steps, stragglers, SQL, the
// recording itself, the log. Interface thread, inside a frame.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/inspect/memory/memory_tab.h"
#include "ui/inspect/sql/sql_tab.h"
#include "ui/inspect/tabs/log_tab.h"
#include "ui/inspect/tabs/recording_tab.h"
#include "ui/inspect/tabs/statistics_tab.h"
#include "ui/inspect/tabs/step_tab.h"
#include "ui/inspect/tabs/straggler_tab.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

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
inline constexpr int kInspectTabCount = 11;

std::string_view tab_title(InspectTab tab);       // "Kernels"
InspectTab tab_of_title(std::string_view title);  // kKernels for any other text

class InspectTabs {
 public:
  // Also obeys Ctrl+Tab and Ctrl+Shift+Tab while no text is being edited.
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);

  void show(InspectTab tab) {
    tab_ = tab;
    restored_ = true;
  }
  // Before draw(): takes the remembered tab over once, from then on writes the chosen one into it.
  void remember(std::string& title);
  InspectTab tab() const { return tab_; }  // as chosen: a run without it shows its first one
  // Where a table wants the timeline to go: to a step, to a collective. Asked once per frame, after
  // draw(); the workspace zooms there.
  std::optional<trace::TimeRange> take_wanted_view();
  void show_memory_of(std::int64_t step) { memory_.choose_step(step); }
  // Ctrl+Enter is the console's while its editor has the keyboard.
  bool edits_sql() const { return shown_ == InspectTab::kSql && sql_.edits(); }

 private:
  // What the tabs keep of one run goes with it; what the user chose for all runs stays.
  void follow_run(const Snapshot& snapshot);
  std::vector<InspectTab> tabs_of(const Snapshot& snapshot) const;
  void draw_bar(const Theme& theme, Rect bar, const Snapshot& snapshot,
                const std::vector<InspectTab>& tabs);
  // Instead of the tabs, where they have no room beside each other.
  void draw_tab_choice(const Theme& theme, const Rect& bar, const std::vector<InspectTab>& tabs);
  void draw_note(const Theme& theme, const Rect& room, const InspectView& view) const;
  void draw_tab(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);

  InspectTab tab_ = InspectTab::kKernels;
  InspectTab shown_ = InspectTab::kKernels;  // in this frame
  bool restored_ = false;
  std::array<StatisticsTab, 5> statistics_{StatisticsTab(trace::StatisticsTable::kKernels),
                                           StatisticsTab(trace::StatisticsTable::kOperators),
                                           StatisticsTab(trace::StatisticsTable::kCollectives),
                                           StatisticsTab(trace::StatisticsTable::kCopies),
                                           StatisticsTab(trace::StatisticsTable::kLaunches)};
  StepTab steps_;
  MemoryTab memory_;
  StragglerTab stragglers_;
  SqlTab sql_;
  RecordingTab recording_;
  LogTab log_;
  std::optional<trace::TimeRange> wanted_view_;
  std::string run_;  // its folder
};

}  // namespace shardlens::ui
