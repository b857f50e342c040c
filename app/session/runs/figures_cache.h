// What was found out about a run, kept beside it: to find it out, all of its events are read. Any
// thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "app/session/runs/library_run.h"
#include "trace/analysis/figures/figures.h"
#include "trace/store/run/kept_file.h"

namespace shardlens::app::session {

inline constexpr std::string_view kFiguresCacheFile = "figures.cache";
inline constexpr std::string_view kRecordCacheFile = "ledger.cache";

// The figures of one that has ended, as trace::store::read_kept(). What is known of the run itself
// (`info`) and the size of its files are not among them: words change without any figure.
std::optional<trace::analysis::RunFigures> kept_figures(const std::filesystem::path& run,
                                                        const trace::store::RunStamp& stamp);
// As trace::store::keep(). Nothing is kept of a run that has not ended or could not be read whole.
void keep_figures(const std::filesystem::path& run, const trace::store::RunStamp& stamp,
                  const trace::analysis::RunFigures& figures);

// What the library needs of it, as trace::store::read_kept() and trace::store::keep().
std::optional<LibraryRun> kept_record(const std::filesystem::path& run,
                                      const trace::store::RunStamp& stamp);
void keep_record(const LibraryRun& record, const trace::store::RunStamp& stamp);

}  // namespace shardlens::app::session
