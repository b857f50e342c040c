// Lets files of older versions be read as if they were of this one: tables that they lack are
// empty, columns hold nothing, and neither do those in which they have 0 for what is not known.
// Nothing is written to the file. The connection's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {

// What a table has in the file, not in a view that hides it.
Result<std::vector<std::string>> columns_in_file(Database& database, std::string_view table);

// Hides what is incomplete behind temporary tables and views of this connection.
Result<void> complete_older_format(Database& database);

}  // namespace shardlens::trace
