// The ledger as columns of texts: which columns have a value, what each cell says.
// Free of ImGui.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

struct LedgerColumn {
  std::string title = {};
  // Behind the title in the head: of what it is just now, as "at step 29". No part of the column's
  // name: what is sorted by it stays sorted.
  std::string of = {};
  std::string key = {};  // a setting's name; "" for figures
  std::string definition = {};
  bool figure = false;   // set in the monospaced face
  bool is_name = false;  // cut in its middle: names of a sweep begin alike
  float width = 80;      // of scale 1
  float least = 0;       // what it can do with where columns that matter would go; 0: `width`
  float wish = 0;        // what its longest text would take, given where there is room
  int priority = 0;      // low ones go first when the window is narrow
  // Made only for rows on screen: a library may hold thousands.
  std::function<TableCell(const state::LedgerRow&, const state::JobState&)> cell = {};
  // What it is sorted by; NaN: not known. None: by the text.
  std::function<double(const state::LedgerRow&)> number = {};

  std::string head() const { return of.empty() ? title : title + " " + of; }
};

struct LedgerTable {
  std::vector<LedgerColumn> columns;
};

// From this on a column tells the runs apart: it goes only when there is no room for such columns.
inline constexpr int kTellsRunsApart = 200;

// Columns without a value in any row are left out; settings are shown where rows differ in them.
LedgerTable ledger_table(const state::Ledger& ledger);

}  // namespace shardlens::ui::present
