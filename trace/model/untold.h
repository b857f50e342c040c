// What traces and recordings of another program leave unknown, in the words in which import and
// reports say it and what to do about it. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::model {

inline constexpr std::string_view kUnknownRanks =
    "How many ranks the job has is not told, as its traces have no distributedInfo: how long ranks "
    "waited for each other and what they sent is not known. Call init_process_group before the "
    "profiler starts, with PyTorch 2.1 or newer";
inline constexpr std::string_view kUnknownGroups =
    "Of some collectives the process group is not known, since they name none (Gloo's do not) and "
    "several groups of the job fit, or one without the rank that they are taken to be of, as where "
    "traces have no distributedInfo: how long ranks waited for each other in them, what they sent "
    "and how fast is not known. Import the traces of all ranks together; record with NCCL, whose "
    "collectives name their group, or a job with one group";

// Tag of what DDP reduces with find_unused_parameters beside buckets.
inline constexpr std::string_view kUsedParameters = "used parameters";

// Of which neither function nor name is known: a kernel of NCCL that runs any of them, launched
// where the trace does not say for what.
bool is_untold(const Collective& call);

// Of a collective of several ranks, whether its times are known. If not, as where no GPU was
// recorded, it starts and ends with the host's call.
inline bool is_timed(const auto& collective) { return collective.end_ns != collective.start_ns; }

// Before the file's name in a rank's `sources`.
inline constexpr std::string_view kImportedFrom = "imported from ";

// Behind what a rank's `sources` say, of a trace in which NCCL is asked for collectives and carries
// none out, as without the GPU's activity. Its steps have no details then.
inline constexpr std::string_view kNoKernels = ", which holds no collectives";
bool holds_collectives(std::string_view sources);
std::string missing_collectives(std::string_view sources);  // a sentence; "": it holds them

// Behind that, of a trace whose file ended early. Steps that its GPU's records do not reach have no
// details then.
inline constexpr std::string_view kCutOff = ", which was cut off";
std::string cut_off_trace(std::string_view sources);  // a sentence; "": it was not

// Behind that, of a trace that marks no steps.
inline constexpr std::string_view kStepsOfOptimizer =
    ", which marks no steps: each ends with its optimizer's";
inline constexpr std::string_view kOneStep = ", which marks no steps: all of it counts as one";

// Among the strings of the last commit of a rank whose sources had given all that they held before
// its recorder stopped, so that nothing of what was recorded is missing at its end. One that was
// killed, or that saved what it could in haste, lacks it.
inline constexpr std::string_view kClosedInOrder = "shardlens: closed in order";
// Behind the `sources` of a rank that does not know yet how its recording ends.
inline constexpr std::string_view kEndNotTold = "; its end: not recorded";

// Whether steps are as the program marked them; if not, sentences on that, else "".
bool marks_steps(std::string_view sources);
std::string unmarked_steps(std::string_view sources);

// Sentences on ranks that were not all recorded in the same steps; "": they were. `steps`: by rank,
// ascending; `are_marked`: by all ranks.
std::string different_steps(const std::map<int, std::vector<std::int64_t>>& steps, bool are_marked);

}  // namespace shardlens::trace::model
