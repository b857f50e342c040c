// What the library found out about a run, kept beside it: to find it out, all of its events are
// read. Any thread.
#pragma once

#include <optional>
#include <string_view>

#include "app/session/run_record.h"

namespace shardlens::app {

inline constexpr std::string_view kRecordCacheFile = "ledger.cache";

// What was kept of a run whose files were as `stamp` says. None when they have changed since, when
// another build of this program kept it, or when it is damaged.
std::optional<RunRecord> kept_record(const std::filesystem::path& run, const RunStamp& stamp);
// For runs that are folders. Nothing is kept, nor said, where the folder cannot be written.
void keep_record(const RunRecord& record, const RunStamp& stamp);

}  // namespace shardlens::app
