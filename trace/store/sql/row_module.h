// SQLite's virtual table over one row table of many files: ATTACH ends at ten. Tables are
// temporary, so that no trace ever needs this module. One thread at a time.
#pragma once

#include <vector>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// Creates temp.<table> for every table of the schema in `connection`, uniting the rows of `files`,
// which must outlive the connection.
base::Result<void> create_row_tables(Database& connection, std::vector<Database*>& files);

}  // namespace shardlens::trace::store
