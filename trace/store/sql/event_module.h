// SQLite's virtual tables `kernel`, `launch`, `op`, `copy` and `allocation` over the chunks of many
// files. They belong to a connection, never to a trace. One thread at a time.
#pragma once

#include <string_view>

#include "trace/base/result.h"
#include "trace/store/sql/event_source.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// `source` must outlive the connection; `prefix` comes before every table's name.
base::Result<void> create_event_tables(Database& connection, EventSource& source,
                                       std::string_view prefix = "");

}  // namespace shardlens::trace::store
