// For connections that read rows in order, once. Any thread.
#pragma once

namespace shardlens::trace {

// SQLite would keep two megabytes of pages, for every rank of a run.
inline constexpr const char* kReadOnce = "pragma cache_size=-128";

}  // namespace shardlens::trace
