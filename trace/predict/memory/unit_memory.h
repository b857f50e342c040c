// The memory of strategies with units: shards, gathered units, gradients under way. Follows
// trainer/strategy/fsdp. Any thread.
#pragma once

#include <optional>
#include <vector>

#include "trace/predict/memory/kept_memory.h"
#include "trace/predict/sizes/element_bytes.h"
#include "trace/predict/sizes/shard_sizes.h"

namespace shardlens::trace::predict {

class UnitMemory final : public KeptMemory {
 public:
  UnitMemory(const PlannedJob& job, const ModelSizes& sizes);

  void hold_at_rest(MemoryLedger& ledger) override;
  void begin_forward(MemoryLedger& ledger, bool reduces, bool adds) override;
  void enter_layers(MemoryLedger& ledger, ParameterRange layers) override;
  void leave_layers(MemoryLedger& ledger, ParameterRange layers) override;
  void begin_backward(MemoryLedger& ledger) override;
  void enter_layers_backward(MemoryLedger& ledger, ParameterRange layers) override;
  void recompute_layers(MemoryLedger& ledger, ParameterRange layers) override;
  void use_parameter(MemoryLedger& ledger, int parameter) override;
  void keep_gradient(MemoryLedger& ledger, std::int64_t values) override;
  void leave_layers_backward(MemoryLedger& ledger, ParameterRange layers) override;
  void end_backward(MemoryLedger& ledger) override;
  std::int64_t host_bytes() const override;

 private:
  enum class State : std::uint8_t { kFree, kGathering, kGathered };
  struct UnderWay {
    std::int64_t input = 0, output = 0, shard = 0;  // bytes, bytes, values
  };
  using Unit = std::size_t;  // of shards_.units
  static constexpr Unit kRoot = 0;

  const ModelUnit& at(Unit unit) const { return shards_.units[unit].unit; }
  ParameterRange parameters(Unit unit) const { return at(unit).parameters; }
  // Of the whole unit, and what of a shard takes memory on its way into a gather.
  std::int64_t gathered_bytes(Unit unit) const;
  std::int64_t gather_input_bytes(Unit unit) const;

  void enter(MemoryLedger& ledger, Unit unit);
  void leave(MemoryLedger& ledger);  // the innermost that is open
  void recompute(MemoryLedger& ledger, Unit unit);
  void await_backward(Unit unit);
  void enter_backward(MemoryLedger& ledger, Unit unit);
  void leave_backward(MemoryLedger& ledger);
  void end_unit_backward(MemoryLedger& ledger, Unit unit);

  void gather(MemoryLedger& ledger, Unit unit);
  void wait(MemoryLedger& ledger, Unit unit);
  void free(MemoryLedger& ledger, Unit unit);
  void retire(MemoryLedger& ledger, Unit unit);
  void drop_retired(MemoryLedger& ledger);
  void prefetch_for_backward(MemoryLedger& ledger);
  void reduce(MemoryLedger& ledger, Unit unit);
  void finish_reduction(MemoryLedger& ledger);

  const PlannedJob& job_;
  const ModelSizes& sizes_;
  ShardSizes shards_;
  ElementBytes bytes_;
  bool frees_after_forward_, offloads_, is_resident_;
  bool reduces_ = true, adds_ = false, has_shard_gradients_ = false;
  // By unit. Its gradients are still to be reduced.
  std::vector<State> states_;
  std::vector<bool> awaits_end_;
  std::vector<std::vector<Unit>>
      of_parameter_;         // the units around it without the root, outer first
  std::vector<Unit> open_;   // under way, without the root, the innermost last
  std::size_t entered_ = 0;  // how many, by forward
  // Those whose backward has not begun, as forward left them: the last is the next.
  std::vector<Unit> await_backward_;
  // Freed in forward, but a GPU may still compute with it (trainer/strategy/fsdp/retired_unit).
  std::optional<Unit> retired_;
  std::optional<UnderWay> under_way_;
};

}  // namespace shardlens::trace::predict
