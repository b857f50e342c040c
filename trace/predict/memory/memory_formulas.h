// The formulas behind predicted bytes, with the numbers put in, as hovering over a cell shows them.
// Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "trace/predict/memory/memory_ledger.h"
#include "trace/predict/memory/step_walk.h"
#include "trace/predict/sizes/planned_job.h"
#include "trace/predict/sizes/shard_sizes.h"

namespace shardlens::trace::predict {

class MemoryFormulas {
 public:
  // Both outlive it.
  MemoryFormulas(const PlannedJob& job, const StepWalk& walk);

  std::string of(Holding holding, std::int64_t bytes) const;
  std::string of_host() const;

 private:
  std::string at_rest(Holding holding) const;
  std::string units(Holding holding, std::int64_t bytes) const;
  std::string activations(Holding holding, std::int64_t bytes) const;
  std::string parameters() const;
  std::string gradients(std::int64_t bytes) const;
  std::string optimizer() const;
  std::string saved_by_blocks(std::int64_t bytes) const;
  std::string saved_by_head() const;

  const PlannedJob& job_;
  const StepWalk& walk_;
  ElementBytes bytes_;
  ShardSizes shards_;
  bool has_units_, is_divided_;
};

}  // namespace shardlens::trace::predict
