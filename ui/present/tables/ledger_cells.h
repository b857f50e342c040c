// What those cells of the ledger say about a run that are more than a figure; an empty text where
// there is nothing to say. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ui/present/tables/ledger_table.h"

namespace shardlens::ui::present {

TableCell name_cell(const state::LedgerRow& row);
TableCell when_cell(const state::LedgerRow& row);
TableCell steps_cell(const state::LedgerRow& row, const state::JobState& job);
TableCell relative_cell(const state::LedgerRow& row);  // against the baseline
TableCell setting_cell(const state::LedgerRow& row, const trace::job::Knob& knob);
TableCell tags_cell(const state::LedgerRow& row);
TableCell note_cell(const state::LedgerRow& row);
TableCell waiting_cell(const state::LedgerRow& row);    // the part of exposed for late ranks
TableCell predicted_cell(const state::LedgerRow& row);  // "331.0 → 325.2 ms −1.8 %"
// Measured ÷ predicted step time − 1; none: one of them is not known.
std::optional<double> prediction_error(const state::LedgerRow& row);
// `step`: the one that the column's head names.
TableCell loss_cell(const state::LedgerRow& row, std::int64_t step);

}  // namespace shardlens::ui::present
