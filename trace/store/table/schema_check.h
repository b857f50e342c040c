// Whether a file's tables are ours, as we make them: whatever else a file declares would run when
// it is read. The connection's thread.
#pragma once

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// All tables, with all their columns, and nothing else. Error: kDamaged, with what is there.
base::Result<void> check_schema(Database& database);

}  // namespace shardlens::trace::store
