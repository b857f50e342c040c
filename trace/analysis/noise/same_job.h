// Whether two runs are of one job, so that their times can be held against each other. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::analysis {

// Where a run was recorded, each name once: eight GPUs of a machine are one kind of device. "": not
// known.
struct MachineNames {
  std::string hosts, devices;
};
MachineNames machine_of(const std::vector<RankFigures>& ranks);

// What tells; outlives nothing of the run.
struct JobFacts {
  const model::RunInfo* info = nullptr;
  std::string_view hosts, devices;
};

enum class OtherJob : std::uint8_t {
  kUntold,
  kProgram,
  kModel,
  kData,
  kMachine,
  kUntoldMachine,
  kDevice,
  kSteps
};

// Whether anything tells what was run: settings or a command, but not another program's trace.
bool tells_job(const model::RunInfo& info);

// Why their times say nothing beside each other; empty: they do.
std::vector<OtherJob> why_other_job(const JobFacts& a, const JobFacts& b);
inline bool is_same_job(const JobFacts& a, const JobFacts& b) {
  return why_other_job(a, b).empty();
}

// Whether there is no other reason than that nothing tells what was run: who reads two traces of a
// program may know that it was the same.
bool is_only_untold(const std::vector<OtherJob>& reasons);

// "another model, another machine"; "" without reasons.
std::string other_job_text(const std::vector<OtherJob>& reasons);
// The same in two words: "other machine", "other job", …; "" without reasons.
std::string_view other_job_label(const std::vector<OtherJob>& reasons);

// The same job, on the same hosts or on more beside these: only then do ranks tell how it scales.
bool is_same_job_with_more_hosts(const JobFacts& few, const JobFacts& many);

// The same tokens or samples per step: only then are step times comparable.
bool has_same_work(const model::RunInfo& a, const model::RunInfo& b);

}  // namespace shardlens::trace::analysis
