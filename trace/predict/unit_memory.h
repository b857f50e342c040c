// The memory of strategies with units: shards, gathered units, gradients under way. Follows
// trainer/fsdp. Any thread.
#pragma once

#include <optional>
#include <vector>

#include "trace/predict/element_bytes.h"
#include "trace/predict/kept_memory.h"
#include "trace/predict/shard_sizes.h"

namespace shardlens::trace {

class UnitMemory final : public KeptMemory {
 public:
  UnitMemory(const PlannedJob& job, const ModelSizes& sizes);

  void hold_at_rest(MemoryLedger& ledger) override;
  void begin_forward(MemoryLedger& ledger, bool reduces, bool adds) override;
  void enter_block(MemoryLedger& ledger, std::int64_t block) override;
  void leave_block(MemoryLedger& ledger, std::int64_t block) override;
  void begin_backward(MemoryLedger& ledger) override;
  void enter_block_backward(MemoryLedger& ledger, std::int64_t block) override;
  void keep_gradient(MemoryLedger& ledger, std::int64_t values) override;
  void leave_block_backward(MemoryLedger& ledger, std::int64_t block) override;
  void end_backward(MemoryLedger& ledger) override;
  std::int64_t host_bytes() const override;

 private:
  enum class State : std::uint8_t { kFree, kGathering, kGathered };
  struct UnderWay {
    std::int64_t input = 0, output = 0, shard = 0;  // bytes, bytes, values
  };

  State& state_of(std::int64_t block) { return states_[static_cast<std::size_t>(block + 1)]; }
  std::int64_t trained_shard(std::int64_t block) const;   // values
  std::int64_t trained_values(std::int64_t block) const;  // of the whole unit, without padding
  FrozenBytes frozen_shard(std::int64_t block) const;
  // Of the whole unit, and what of a shard takes memory on its way into a gather.
  std::int64_t gathered_bytes(std::int64_t block) const;
  std::int64_t gather_input_bytes(std::int64_t block) const;

  void gather(MemoryLedger& ledger, std::int64_t block);
  void wait(MemoryLedger& ledger, std::int64_t block);
  void free(MemoryLedger& ledger, std::int64_t block);
  void retire(MemoryLedger& ledger, std::int64_t block);
  void drop_retired(MemoryLedger& ledger);
  void gather_ahead(MemoryLedger& ledger, std::int64_t block);
  void reduce(MemoryLedger& ledger, std::int64_t block);
  void finish_reduction(MemoryLedger& ledger);

  const PlannedJob& job_;
  const ModelSizes& sizes_;
  ShardSizes shards_;
  ElementBytes bytes_;
  bool frees_after_forward_, offloads_, is_resident_;
  bool reduces_ = true, adds_ = false, has_shard_gradients_ = false;
  std::vector<State> states_;  // the root first
  // Freed in forward, but a GPU may still compute with it (trainer/fsdp/retired_unit).
  std::optional<std::int64_t> retired_;
  std::optional<UnderWay> under_way_;
};

}  // namespace shardlens::trace
