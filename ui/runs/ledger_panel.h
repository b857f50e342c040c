// The ledger of all runs in the library. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/tables/ledger_table.h"
#include "ui/runs/run_menu.h"
#include "ui/runs/run_order.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

class LedgerPanel {
 public:
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);
  // The filter, and what can be done with the selected runs, in the dock's header.
  void draw_tools(const Theme& theme, Rect area, const Snapshot& snapshot, Commands& commands);

 private:
  void update(const std::shared_ptr<const Ledger>& ledger, float width);
  void draw_head(const Theme& theme, const Rect& row);
  void draw_rows(const Theme& theme, const Rect& rest, const Snapshot& snapshot,
                 Commands& commands);
  void draw_row(const Theme& theme, const Rect& rect, const LedgerRow& row, const JobState& job,
                Commands& commands);
  void click(const LedgerRow& row, Commands& commands);
  void open_menu(const LedgerRow& row);
  std::vector<LedgerRow> selected_rows() const;

  TableSort sort_;
  std::string filter_;
  std::set<std::string> selected_;  // folders
  std::string anchor_;              // the one clicked last: Shift selects from there
  RunMenu menu_;

  // Made when the ledger, the order or the width changes, not in each frame.
  std::shared_ptr<const Ledger> ledger_;
  float width_ = 0;
  TableSort sorted_by_;
  std::string filtered_by_;
  Ledger shown_;  // the rows that match, in order
  LedgerTable table_;
  std::string note_;
};

}  // namespace shardlens::ui
