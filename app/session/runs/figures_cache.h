// The figures of a run that has ended, kept beside it: to find them out, all of its events are
// read. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "trace/analysis/figures/figures.h"
#include "trace/store/run/kept_file.h"

namespace shardlens::app::session {

inline constexpr std::string_view kFiguresCacheFile = "figures.cache";

// As trace::store::read_kept(). What is known of the run itself (`info`) and the size of its files
// are not among them: words change without any figure.
std::optional<trace::analysis::RunFigures> kept_figures(const std::filesystem::path& run,
                                                        const trace::store::RunStamp& stamp);
// As trace::store::keep(). Nothing is kept of a run that has not ended or could not be read whole.
void keep_figures(const std::filesystem::path& run, const trace::store::RunStamp& stamp,
                  const trace::analysis::RunFigures& figures);

}  // namespace shardlens::app::session
