// The answer to a query as a table, where a row of it lies in time, and where a query is wrong.
// Free of ImGui; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ui/present/table_model.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

std::shared_ptr<const present::Table> sql_result_table(
    const std::shared_ptr<const state::SqlAnswer>& answer);

// A row with a column start_ns, or time_ns, has a place in the timeline; end_ns or duration_ns and
// rank are taken where they are there.
std::optional<trace::timeline::TimeRange> time_of_row(const state::SqlAnswer& answer,
                                                      std::size_t row);

// "1,204 rows in 12 ms", "the first 10,000 rows in 0.4 s"
std::string answer_text(const state::SqlAnswer& answer);

struct SqlErrorPlace {
  std::size_t offset = 0, length = 0;  // bytes of the query
  int line = 1, column = 1;            // from 1
};
// The word that begins at a byte of the query.
SqlErrorPlace sql_error_place(std::string_view query, std::size_t offset);

}  // namespace shardlens::ui::inspect
