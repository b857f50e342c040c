// The sentences that must accompany a run: what makes its timings unlike a real job's. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/model/events.h"
#include "trace/model/run_info.h"
#include "trace/model/strings.h"

namespace shardlens::app::session {

// Whether the job was made unlike a real one: a simulated link, injected faults, communication that
// is kept from overlapping or left out.
bool is_simulated(const trace::model::RunInfo& info);

// "CPU run: shows how it works, not how fast a GPU is", simulated link, shared GPU, …
std::vector<std::string> banners_of(const trace::model::RunInfo& job);
// The same of what was recorded, and of what is missing of it.
std::vector<std::string> banners_of(const trace::analysis::RunFigures& figures);
// Those that all of several runs have, in the order of the first one.
std::vector<std::string> banners_in_common(const std::vector<std::vector<std::string>>& of_runs);

// The last `lines` lines of rank_N.log, stamped with `time_ns`; empty when there is none.
std::vector<trace::model::LogLine> rank_log_lines(const std::filesystem::path& run_folder, int rank,
                                                  std::size_t lines, std::int64_t time_ns);

// Which rank keeps the others waiting: of a failed run, or of a live one that has stood still for a
// while. The cause is kNone when nothing stands out.
trace::analysis::HangDiagnosis diagnosis_of(const trace::analysis::RunFigures& figures,
                                            const trace::model::StringTable& strings,
                                            std::int64_t now_ns);

}  // namespace shardlens::app::session
