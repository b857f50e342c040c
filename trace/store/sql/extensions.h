// What SQL over a run has beside SQLite's own. Tables and functions belong to a connection, so that
// no trace ever needs them. One thread at a time.
#pragma once

#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/sql/event_source.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// Virtual tables temp.<table> for every table of the schema, uniting the rows of many `files`,
// which must outlive the connection: ATTACH ends at ten.
base::Result<void> create_row_tables(Database& connection, std::vector<Database*>& files);

// Virtual tables `kernel`, `launch`, `op`, `copy` and `allocation` over the chunks of many files.
// `source` must outlive the connection; `prefix` comes before every table's name.
base::Result<void> create_event_tables(Database& connection, EventSource& source,
                                       std::string_view prefix = "");

// Aggregate functions of numbers; NULL is left out, of no number each is NULL.
//   median(x)         the middle; of an even number halfway between the two
//   percentile(x, p)  linear between neighbours, as the window's; p, from 0 to 100, counts as the
//                     first row has it
//   stdev(x)          of a sample (divided by n − 1); of one number NULL
base::Result<void> create_aggregates(Database& connection);

}  // namespace shardlens::trace::store
