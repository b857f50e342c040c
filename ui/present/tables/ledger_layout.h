// Which columns of the ledger fit into a width, and how wide each is. Free of ImGui.
#pragma once

#include "ui/present/tables/ledger_table.h"

namespace shardlens::ui::present {

// Drops columns of low priority until the rest fits; the first column takes what is left over.
// `width`: of scale 1.
void fit_columns(LedgerTable& table, float width);

}  // namespace shardlens::ui::present
