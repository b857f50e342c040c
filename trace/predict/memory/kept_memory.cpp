#include "trace/predict/memory/kept_memory.h"

#include "trace/job/shape/strategy.h"
#include "trace/predict/memory/replicated_memory.h"
#include "trace/predict/memory/unit_memory.h"

namespace shardlens::trace::predict {

std::unique_ptr<KeptMemory> kept_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger) {
  if (job::strategy_traits(job.settings.sharding_strategy).has_units) {
    return std::make_unique<UnitMemory>(job, sizes, ledger);
  }
  return std::make_unique<ReplicatedMemory>(job, sizes, ledger);
}

}  // namespace shardlens::trace::predict
