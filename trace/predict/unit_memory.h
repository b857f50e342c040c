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
  void use_parameter(MemoryLedger& ledger, std::int64_t block, int parameter) override;
  void keep_gradient(MemoryLedger& ledger, std::int64_t values) override;
  void leave_block_backward(MemoryLedger& ledger, std::int64_t block) override;
  void end_backward(MemoryLedger& ledger) override;
  std::int64_t host_bytes() const override;

 private:
  enum class State : std::uint8_t { kFree, kGathering, kGathered };
  struct UnderWay {
    std::int64_t input = 0, output = 0, shard = 0;  // bytes, bytes, values
  };
  // The root is 0; those of a block follow one another, and those of the next block them.
  using Unit = std::size_t;
  static constexpr Unit kRoot = 0;

  Unit unit_of(std::int64_t block, std::size_t in_block) const {
    return 1 + static_cast<std::size_t>(block) * shards_.of_block.size() + in_block;
  }
  std::int64_t block_of(Unit unit) const;
  const BlockShard& shard_of(Unit unit) const;
  void list_in_order_of_leaving();

  std::int64_t trained_shard(Unit unit) const;   // values
  std::int64_t trained_values(Unit unit) const;  // of the whole unit, without padding
  FrozenBytes frozen_shard(Unit unit) const;
  // Of the whole unit, and what of a shard takes memory on its way into a gather.
  std::int64_t gathered_bytes(Unit unit) const;
  std::int64_t gather_input_bytes(Unit unit) const;

  void enter(MemoryLedger& ledger, Unit unit);
  void leave(MemoryLedger& ledger);  // the innermost that is open
  void enter_backward(MemoryLedger& ledger, Unit unit);
  void leave_backward(MemoryLedger& ledger);
  void end_unit_backward(MemoryLedger& ledger, Unit unit);

  void gather(MemoryLedger& ledger, Unit unit);
  void wait(MemoryLedger& ledger, Unit unit);
  void free(MemoryLedger& ledger, Unit unit);
  void retire(MemoryLedger& ledger, Unit unit);
  void drop_retired(MemoryLedger& ledger);
  void gather_before(MemoryLedger& ledger, Unit unit);
  void reduce(MemoryLedger& ledger, Unit unit);
  void finish_reduction(MemoryLedger& ledger);

  const PlannedJob& job_;
  const ModelSizes& sizes_;
  ShardSizes shards_;
  ElementBytes bytes_;
  bool frees_after_forward_, offloads_, is_resident_;
  bool reduces_ = true, adds_ = false, has_shard_gradients_ = false;
  std::vector<State> states_;  // by unit
  std::vector<Unit> left_;     // without the root, in the order in which forward leaves them
  std::vector<Unit> open_;     // of the block under way, the innermost last
  Unit entered_ = kRoot;       // the last one
  // Freed in forward, but a GPU may still compute with it (trainer/fsdp/retired_unit).
  std::optional<Unit> retired_;
  std::optional<UnderWay> under_way_;
};

}  // namespace shardlens::trace
