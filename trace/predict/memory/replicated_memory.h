// DDP's and ZeRO-1's memory: whole parameters and gradients, and buckets. Any thread.
#pragma once

#include "trace/predict/memory/kept_memory.h"

namespace shardlens::trace::predict {

class ReplicatedMemory final : public KeptMemory {
 public:
  ReplicatedMemory(const PlannedJob& job, const ModelSizes& sizes, MemoryLedger& ledger);

  void hold_at_rest() override;
  void begin_forward(bool reduces, bool adds) override;
  void keep_gradient(std::int64_t values) override;
  void end_backward() override;

 private:
  const PlannedJob& job_;
  const ModelSizes& sizes_;
  bool are_views_, compresses_, rebuilds_;
  int reductions_before_rebuild_;
  int reductions_ = 0;
  bool reduces_ = true, adds_ = false;
};

}  // namespace shardlens::trace::predict
