// Two to six runs beside each other: how much faster, whether that is real, and what makes it so.
// Interface thread, inside a frame.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ui/compare/compare_layout.h"
#include "ui/compare/compared_timelines.h"
#include "ui/kit/theme.h"
#include "ui/present/compare/differences.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::compare {

class RunsTab {
 public:
  // `keys`: the keyboard is the tab's.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            bool keys, state::Commands& commands);

  const ComparedTimelines& timelines() const { return timelines_; }

 private:
  using Difference = std::shared_ptr<const trace::analysis::RunDifference>;

  void draw_sentences(const kit::Theme& theme, const CompareLayout& layout,
                      const state::ComparisonView& view);
  void draw_waterfall_panel(const kit::Theme& theme, const state::Rect& rect,
                            const state::ComparisonView& view);
  void draw_table_panel(const kit::Theme& theme, const state::Rect& rect,
                        const state::ComparisonView& view, state::Commands& commands);
  void use_step_keys(const state::ComparisonView& view, state::Commands& commands) const;
  void find_chosen(const state::ComparisonView& view);
  // Of the chosen run; null while it is read.
  Difference chosen_difference(const state::ComparisonView& view) const;

  ComparedTimelines timelines_;
  std::size_t chosen_ = 1;     // the run whose difference from the base is shown below
  std::string chosen_folder_;  // finds it again among others
  int waterfall_of_ = 0;       // parts, phases
  std::string_view kind_;      // that was chosen for the table's rows; a run may have none of it
  table::TableView table_;

  // Made when the difference or the choice of rows changes, not in each frame.
  struct {
    Difference of;
    std::string first, second;
    std::string_view kind;
    std::shared_ptr<const present::Table> table;
  } made_;
};

}  // namespace shardlens::ui::compare
