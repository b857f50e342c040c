// Lets files of older versions be read as if they were of this one: tables that they lack are
// empty, columns are 0. Nothing is written to the file. The connection's thread.
#pragma once

#include "trace/model/result.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {

// Hides what is incomplete behind temporary tables and views of this connection.
Result<void> complete_older_format(Database& database);

}  // namespace shardlens::trace
