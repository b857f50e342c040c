// Names the rank for which the others waited in vain: the one that failed first is often only the
// first that lost its patience. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/model/run_info.h"

namespace shardlens::app::launch {

// What the files of a run that has just failed tell. The cause is kNone where they tell nothing,
// cannot be read, or are too long to be read at once.
trace::analysis::HangDiagnosis diagnose_files(const std::filesystem::path& folder,
                                              const trace::model::RunInfo& ended);

// "rank 0 failed: … timed out; rank 1 never arrived". The reason itself where no rank stands out or
// it says already that this rank stands still.
std::string with_culprit(std::string reason, const trace::analysis::HangDiagnosis& diagnosis);

}  // namespace shardlens::app::launch
