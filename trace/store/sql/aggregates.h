// Aggregate functions for SQL that SQLite 3.40 has not. Any thread.
#pragma once

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// Of numbers; NULL is left out, of no number each is NULL.
//   median(x)         the middle; of an even number halfway between the two
//   percentile(x, p)  linear between neighbours, as the window's; p, from 0 to 100, counts as the
//                     first row has it
//   stdev(x)          of a sample (divided by n − 1); of one number NULL
base::Result<void> create_aggregates(Database& connection);

}  // namespace shardlens::trace::store
