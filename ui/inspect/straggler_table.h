// Waits of collectives by rank as a table: a row per call, a column per rank, and on top what each
// rank's lateness cost. Free of ImGui; any thread.
#pragma once

#include <memory>
#include <string>

#include "trace/timeline/straggler_figures.h"
#include "ui/inspect/table_model.h"

namespace shardlens::ui {

// Rows are those of figures->calls.
std::shared_ptr<const Table> straggler_table(
    const std::shared_ptr<const trace::StragglerFigures>& figures);

// The rank of a column; -1: not one of a rank.
int rank_of_column(const trace::StragglerFigures& figures, std::size_t column);

// "Rank 3 came last in 42 of 118 collectives; the others waited 3.4 s for it", …
std::string straggler_summary(const trace::StragglerFigures& figures);

// "All-reduce · bucket 3"
std::string call_name(const trace::StragglerCall& call);

}  // namespace shardlens::ui
