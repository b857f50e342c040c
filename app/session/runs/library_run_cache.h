// What the library found out about a run, kept beside it: to find it out, all of its events are
// read. Any thread.
#pragma once

#include <optional>
#include <string_view>

#include "app/session/runs/library_run.h"
#include "trace/store/run/kept_file.h"

namespace shardlens::app::session {

inline constexpr std::string_view kRecordCacheFile = "ledger.cache";

// As trace::read_kept() and trace::keep().
std::optional<LibraryRun> kept_record(const std::filesystem::path& run,
                                      const trace::store::RunStamp& stamp);
void keep_record(const LibraryRun& record, const trace::store::RunStamp& stamp);

}  // namespace shardlens::app::session
