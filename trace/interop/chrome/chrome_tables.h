// What a run's tables become as Chrome's trace events: SQL of which each row is one event, or an
// event with its arrow. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::interop {

// In a connection that has a run's row tables and tables of events, makes what the statements below
// join: where each lane is drawn, the members of process groups, collectives by place, and when the
// trace begins. Without `with_paths` this and the statements need the functions of a Redaction.
base::Result<void> make_chrome_tables(store::Database& connection, bool with_paths);

// The members of the object that a file is, beside its events: of rank ?1 in a job of ?2.
std::string chrome_job_sql();
// Names and order of processes and threads, of rank ?1.
std::string chrome_tracks_sql();
// What begins in [?2, ?3) ns on rank ?1, a SELECT for each kind of it.
std::vector<std::string> chrome_events_sql(bool with_paths);

}  // namespace shardlens::trace::interop
