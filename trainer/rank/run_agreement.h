// Which run the ranks belong to: read from the folder that our launcher made, or, under another
// launcher, made by rank 0 and awaited by the others; machines that do not see its disk have one
// each. One thread.
#pragma once

#include <filesystem>
#include <string>

#include "trace/base/result.h"
#include "trace/model/run_info.h"
#include "trainer/rank/rank_options.h"
#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

struct AgreedRun {
  std::filesystem::path folder;
  trace::model::RunInfo info;
  bool owns_status = false;  // this rank writes how the run ended, as its machine saw it
};

// Settings of the command line. Errors name file, line and the nearest key.
trace::base::Result<trace::job::Settings> settings_of(const RankOptions& options);

// Equal only for the same settings; positive. Hosts may keep the text in different places: where it
// lies does not count, the tokens are compared instead.
std::int64_t fingerprint_of(const trace::job::Settings& settings);

// Errors: settings that cannot be run, a folder that holds another run or cannot be made, another
// world size; where a run has to be waited for, that none came as long as connecting may take.
trace::base::Result<AgreedRun> agree_on_run(const RankOptions& options,
                                            const RankPlace& environment);

trace::base::Result<void> record_end(AgreedRun& run, trace::model::RunStatus status,
                                     const std::string& reason);

}  // namespace shardlens::trainer::rank
