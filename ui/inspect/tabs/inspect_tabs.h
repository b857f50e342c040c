// Below the timeline: tables of what is in the selected range, steps, stragglers, SQL, the
// recording itself, the log. Interface thread, inside a frame.
#pragma once

#include <array>
#include <optional>
#include <string>
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
#include "ui/state/view_preferences.h"

namespace shardlens::ui::inspect {

using state::InspectTab;

// Where a table wants the timeline to go.
struct TabWish {
  std::vector<trace::timeline::TimeRange> view;  // by the clocks of ranks: a call on each, say
  std::optional<std::int64_t> step;              // by its number, which is also to be selected
};

class InspectTabs {
 public:
  // Also obeys Ctrl+Tab and Ctrl+Shift+Tab while no text is being edited.
  TabWish draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
               state::Commands& commands);

  void show(InspectTab tab) {
    tab_ = tab;
    restored_ = true;
  }
  // Before draw(): takes the remembered tab over once, from then on writes the chosen one into it.
  void remember(std::string& title);
  InspectTab tab() const { return tab_; }  // as chosen: a run without it shows its first one
  void show_memory_of(std::int64_t step) { memory_.choose_step(step); }
  // Ctrl+Enter is the console's while its editor has the keyboard.
  bool edits_sql() const { return shown_ == InspectTab::kSql && sql_.edits(); }

 private:
  // What the tabs keep of one run goes with it; what the user chose for all runs stays.
  void follow_run(const state::Snapshot& snapshot);
  std::vector<InspectTab> tabs_of(const state::Snapshot& snapshot) const;
  void draw_bar(const kit::Theme& theme, state::Rect bar, const state::Snapshot& snapshot,
                const std::vector<InspectTab>& tabs);
  // Instead of the tabs, where they have no room beside each other.
  void draw_tab_choice(const kit::Theme& theme, const state::Rect& bar,
                       const std::vector<InspectTab>& tabs);
  void draw_note(const kit::Theme& theme, const state::Rect& room,
                 const state::InspectView& view) const;
  TabWish draw_tab(const kit::Theme& theme, const state::Rect& rect,
                   const state::Snapshot& snapshot, state::Commands& commands);

  InspectTab tab_ = InspectTab::kKernels;
  InspectTab shown_ = InspectTab::kKernels;  // in this frame
  bool restored_ = false;
  std::array<StatisticsTab, 5> statistics_{
      StatisticsTab(trace::timeline::StatisticsTable::kKernels),
      StatisticsTab(trace::timeline::StatisticsTable::kOperators),
      StatisticsTab(trace::timeline::StatisticsTable::kCollectives),
      StatisticsTab(trace::timeline::StatisticsTable::kCopies),
      StatisticsTab(trace::timeline::StatisticsTable::kLaunches)};
  StepTab steps_;
  MemoryTab memory_;
  StragglerTab stragglers_;
  SqlTab sql_;
  RecordingTab recording_;
  LogTab log_;
  std::string run_;  // its folder
};

}  // namespace shardlens::ui::inspect
