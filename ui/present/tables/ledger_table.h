// The ledger as a table: which columns have a value, what each cell says. Free of ImGui.
#pragma once

#include <memory>

#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

// Columns without a value in any row are left out; settings are shown where rows differ in them.
// `ledger` lives as long as the table's cells are asked for; `job` is read whenever one is, since
// it gets further while the ledger stays as it is.
Table ledger_table(const state::Ledger& ledger, std::shared_ptr<const state::JobState> job =
                                                    std::make_shared<const state::JobState>());

}  // namespace shardlens::ui::present
