// The ledger of all runs in the library. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/table_model.h"
#include "ui/runs/run_menu.h"
#include "ui/runs/run_order.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::runs {

class LedgerPanel {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);
  // The filter, and what can be done with the selected runs, in the dock's header.
  void draw_tools(const kit::Theme& theme, state::Rect area, const state::Snapshot& snapshot,
                  state::Commands& commands);

 private:
  void update(const std::shared_ptr<const state::Ledger>& ledger, float width);
  void draw_head(const kit::Theme& theme, const state::Rect& row);
  void bring_shown_into_sight(float row_height, float height);
  void draw_rows(const kit::Theme& theme, const state::Rect& rest, const state::Snapshot& snapshot,
                 state::Commands& commands);
  void draw_row(const kit::Theme& theme, const state::Rect& rect, std::size_t place,
                const state::Snapshot& snapshot, state::Commands& commands);
  void click(const state::LedgerRow& row, bool replays, state::Commands& commands);
  void open_menu(const state::LedgerRow& row);
  std::vector<state::LedgerRow> selected_rows() const;

  present::TableSort sort_;
  std::string filter_;
  std::set<std::string> selected_;  // folders
  std::string anchor_;              // the one clicked last: Shift selects from there
  std::string in_sight_;            // the folder of the run that rows were scrolled to
  RunMenu menu_;
  std::shared_ptr<state::JobState> job_ = std::make_shared<state::JobState>();  // of this frame

  // Made when the ledger, the order or the width changes, not in each frame.
  std::shared_ptr<const state::Ledger> ledger_;
  float width_ = 0;
  present::TableSort sorted_by_;
  std::string filtered_by_;
  state::Ledger shown_;   // the rows that match, in order
  present::Table table_;  // of them
  std::vector<present::PlacedColumn> placed_;
  std::string note_;
};

}  // namespace shardlens::ui::runs
