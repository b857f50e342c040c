// What could be changed so that a job that does not fit in memory does. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/predict/plan/plan.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct Remedy {
  struct Change {
    std::string knob;
    std::string value;
    bool operator==(const Change&) const = default;
  };
  std::vector<Change> changes;  // to be made together; each passes set_value()
  std::int64_t peak_bytes = 0;  // estimated, per rank

  // "sharding_strategy=full_shard, activation_checkpointing=1"
  std::string text() const;
};

// Single changes of strategy, recomputation, batch, offload, bucket views and precision after which
// the job's estimated peak is at most `usable_bytes`, the gentlest first; pairs of them if no
// single one is enough. Empty: nothing of that is enough, or the job fits as it is. At most 8.
std::vector<Remedy> changes_that_would_fit(const PlannedJob& job, std::int64_t usable_bytes);
// The same for the strategy that the plan's settings name; none where they are refused.
std::vector<Remedy> changes_that_would_fit(const Plan& plan);

}  // namespace shardlens::trace::predict
