// Makes the tiles anew that late events have spoiled, in the file itself. On the writer's thread.
#pragma once

#include <functional>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

// For a file whose pyramid is complete otherwise; in a transaction of its own. Where it would take
// long nothing is changed: readers rebuild what they need. Errors: of SQLite, after which nothing
// is changed either.
// `seal` ends the transaction with what tells that the rows are ours.
Result<void> repair_lod(Database& database, int rank, const std::function<Result<void>()>& seal);

}  // namespace shardlens::trace
