// Which of the ledger's runs are shown, and in which order. Free of ImGui; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::runs {

// Those that every word of `filter` fits: one such as "bucket_cap_mb=25" if the setting has that
// value, another if it occurs in name, number, tags, note, status or a setting that is not the
// default. `sort`: by a column that the ledger has of these rows.
std::vector<state::LedgerRow> ordered_runs(const state::Ledger& ledger,
                                           const present::TableSort& sort, std::string_view filter);

// The folders between two rows, both included, as they stand.
std::vector<std::string> runs_between(const std::vector<state::LedgerRow>& rows,
                                      std::string_view from, std::string_view to);

}  // namespace shardlens::ui::runs
