// What settings come to in a run: two runs whose settings act alike did the same, whatever was
// written. Any thread.
#pragma once

#include <cstdint>

#include "trace/model/run_info.h"

namespace shardlens::trace::model {

// What a run chose where its settings left the choice to it; 0: not known.
struct ChosenValues {
  std::int64_t threads_per_rank = 0;
  std::int64_t loss_chunk_tokens = job::kAuto;  // kAuto: not known
  std::int64_t shard_group_size = 0;            // by how many hosts there were
};

// The cap of DDP's first bucket in MiB: `chosen`, or where that is auto 1 if `bucket_cap_mb`
// is left at its default, else that, as in PyTorch.
double first_bucket_mb(double chosen, double bucket_cap_mb);

// `auto` replaced by what was chosen, as far as that is known; what strategy or device do not obey,
// and what no step's time depends on (how many steps there are, the seed), at its default.
job::Settings acting_settings(const RunInfo& info, const ChosenValues& chosen);

}  // namespace shardlens::trace::model
