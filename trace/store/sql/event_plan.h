// What SQLite's planner and a cursor tell each other about a query over bulk events: which
// conditions and orders we take over, what that costs. Used by the virtual tables' thread.
#pragma once

#include <sqlite3.h>

#include <string_view>
#include <vector>

#include "trace/store/sql/event_scan.h"
#include "trace/store/sql/event_tables.h"

namespace shardlens::trace::store {

// xBestIndex: fills in `info`; SQLITE_OK or SQLITE_NOMEM. `chunks`: all of the table's kind.
int plan_events(sqlite3_index_info* info, const EventTable& table,
                const std::vector<ChunkEntry>& chunks);
// xFilter: what `plan_events` wrote, with the values of now.
EventScanPlan scan_plan(const EventTable& table, std::string_view plan, int count,
                        sqlite3_value** values);

}  // namespace shardlens::trace::store
