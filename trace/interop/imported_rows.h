// Writes the rows of a finished recording as if they had been recorded live: in order of time, in
// commits that carry the trace's own times, so that replay plays them. Any thread.
#pragma once

#include <filesystem>
#include <functional>

#include "trace/base/intervals.h"
#include "trace/base/result.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// From the first to the last row that has a time; there is none if the end is before the start.
base::Interval times_of(const model::Batch& rows);
// `rows`: everything of one rank. `goes_on` is asked between commits; false ends it with kFailed.
// Errors: those of writing.
base::Result<void> write_imported_rows(const std::filesystem::path& file, int rank,
                                       const model::Batch& rows,
                                       const std::function<bool()>& goes_on);

}  // namespace shardlens::trace::interop
