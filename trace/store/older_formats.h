// Lets files of older versions be read as if they were of this one: tables that they lack are
// empty, columns are 0. Nothing is written to the file. The connection's thread.
#pragma once

#include <string>

#include "trace/model/result.h"
#include "trace/store/schema.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {

// "select row_id,rank,…,0 from main.batch"; `schema`: "main", or an attached file's name. "" when
// the file has no such table.
Result<std::string> select_known_columns(Database& database, const std::string& schema,
                                         const TableSchema& table);

// Hides what is incomplete behind temporary tables and views of this connection.
Result<void> complete_older_format(Database& database);

}  // namespace shardlens::trace
