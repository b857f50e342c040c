// Which settings the ledger shows, and which of them matter most. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "trace/job/settings/settings.h"
#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

using CellOf = std::function<TableCell(const state::LedgerRow&)>;

bool is_any_run(const state::LedgerRow& row);
// No example, whose job may be another one.
bool is_own_run(const state::LedgerRow& row);
// Among the rows that have a value and are counted.
bool rows_differ(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                 bool is_counted(const state::LedgerRow&) = is_any_run);

struct ShownSetting {
  const trace::job::Knob* knob = nullptr;
  CellOf cell_of;
  std::size_t exceptions = 0;  // own runs, if there are any, that have not the most common value
  int place = 0;               // among all, those first that tell most runs apart
};
// In which rows differ, in the order of the table of knobs: at most `most`, by their places.
std::vector<ShownSetting> shown_settings(const std::vector<state::LedgerRow>& rows,
                                         std::size_t most);

}  // namespace shardlens::ui::present
