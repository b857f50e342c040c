// For connections that read rows in order, once. Any thread.
#pragma once

#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// SQLite would keep two megabytes of pages, for every rank of a run.
inline constexpr const char* kReadOnce = "pragma cache_size=-128";

// Until it is read from again: a connection keeps 90 to 220 KB of pages, and a run of a thousand
// ranks has three thousand of them.
inline void forget_pages(Database& database) { sqlite3_db_release_memory(database.get()); }

}  // namespace shardlens::trace::store
