// What each cell of the ledger says about a run; an empty text where there is nothing to say. Free
// of ImGui; any thread.
#pragma once

#include <cstdint>

#include "ui/runs/ledger_table.h"

namespace shardlens::ui {

LedgerCell name_cell(const LedgerRow& row);
LedgerCell when_cell(const LedgerRow& row);
LedgerCell steps_cell(const LedgerRow& row, const JobState& job);
LedgerCell relative_cell(const LedgerRow& row);  // against the baseline
LedgerCell setting_cell(const LedgerRow& row, const trace::Knob& knob);
LedgerCell tags_cell(const LedgerRow& row);
LedgerCell note_cell(const LedgerRow& row);
LedgerCell exposed_cell(const LedgerRow& row);
LedgerCell waiting_cell(const LedgerRow& row);  // the part of exposed for late ranks
LedgerCell overlap_cell(const LedgerRow& row);
LedgerCell peak_memory_cell(const LedgerRow& row);
LedgerCell duration_cell(double ns);
LedgerCell batch_cell(const LedgerRow& row);    // effective batch
LedgerCell samples_cell(const LedgerRow& row);  // samples/s
LedgerCell sent_cell(const LedgerRow& row);     // bytes per rank and step
// `step`: the one that the column's head names.
LedgerCell loss_cell(const LedgerRow& row, std::int64_t step);

}  // namespace shardlens::ui
