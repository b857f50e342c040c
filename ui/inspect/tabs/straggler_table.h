// Waits of collectives by rank as a table: a row per call, a column per rank, and on top what each
// rank's lateness cost. With many ranks the worst come first and the rest are one column. Free of
// ImGui; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/timeline/values/straggler_figures.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

// The ranks that have a column of their own: all where there is room, else those that cost the
// others most, the worst first; the rest share one.
struct StragglerColumns {
  std::vector<int> ranks;
  std::vector<int> rest;

  bool operator==(const StragglerColumns&) const = default;
};
// `width`: of the table, at scale 1.
StragglerColumns straggler_columns(const trace::timeline::StragglerFigures& figures, float width);

// Rows are those of figures->calls.
std::shared_ptr<const present::Table> straggler_table(
    const std::shared_ptr<const trace::timeline::StragglerFigures>& figures,
    const StragglerColumns& columns);

// The rank of a column; -1: not one of a rank.
int rank_of_column(const StragglerColumns& columns, std::size_t column);

// "Rank 3 came last in 42 of 118 collectives; the others waited 3.4 s for it", …
std::string straggler_summary(const trace::timeline::StragglerFigures& figures);

// "All-reduce · bucket 3"
std::string call_name(const trace::timeline::StragglerCall& call);

}  // namespace shardlens::ui::inspect
