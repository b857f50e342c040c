// The memory of strategies with units: shards, gathered units, gradients under way. They come and
// go when the trainer's would, since both go by job::UnitSchedule. Any thread.
#pragma once

#include <optional>
#include <vector>

#include "trace/job/units/unit_schedule.h"
#include "trace/predict/memory/kept_memory.h"
#include "trace/predict/sizes/planned_job.h"
#include "trace/predict/sizes/shard_sizes.h"

namespace shardlens::trace::predict {

class UnitMemory final : public KeptMemory, private job::UnitActions {
 public:
  UnitMemory(const PlannedJob& job, const ModelSizes& sizes, MemoryLedger& ledger);

  void hold_at_rest() override;
  void begin_forward(bool reduces, bool adds) override;
  void enter_layers(ParameterRange layers) override;
  void leave_layers(ParameterRange layers) override;
  void begin_backward() override;
  void enter_layers_backward(ParameterRange layers) override;
  void recompute_layers(ParameterRange layers) override;
  void use_parameter(int parameter) override;
  void keep_gradient(std::int64_t values) override;
  void leave_layers_backward(ParameterRange layers) override;
  void end_backward() override;
  std::int64_t host_bytes() const override;

 private:
  struct UnderWay {
    Holding input_is = Holding::kReduceInputs;
    std::int64_t input = 0, output = 0, shard = 0;  // bytes, bytes, values
  };

  int unit_count() const { return static_cast<int>(shards_.units.size()); }
  const UnitShard& at(int unit) const { return shards_.units[static_cast<std::size_t>(unit)]; }
  ParameterRange parameters(int unit) const { return at(unit).unit.parameters; }
  const std::vector<int>& units_of(int parameter) const {
    return of_parameter_[static_cast<std::size_t>(parameter)];
  }
  // Flat, as they are reduced.
  std::int64_t gradient_bytes(int unit) const {
    return bytes_.reduced * shards_.group * at(unit).trained;
  }
  // Of the whole unit, and what of a shard takes memory on its way into a gather.
  std::int64_t gathered_bytes(int unit) const;
  std::int64_t gather_input_bytes(int unit) const;

  // Of the innermost that is open.
  void leave_unit();
  void leave_unit_backward();
  void enter_unit_backward(int unit);

  void gather(int unit, bool ahead) override;
  void wait(int unit) override;
  void free(int unit) override;
  void reduce(int unit) override;
  void accumulate(int unit) override;
  void drop_retired();
  void finish_reduction();

  const PlannedJob& job_;
  const ModelSizes& sizes_;
  ShardSizes shards_;
  ElementBytes bytes_;
  bool offloads_, is_resident_;
  bool adds_ = false, has_shard_gradients_ = false;
  job::UnitSchedule schedule_;
  std::vector<std::vector<int>> of_parameter_;  // the units around it without the root, outer first
  std::vector<int> open_;                       // under way, without the root, the innermost last
  int next_ = 1;                                // that forward will enter
  std::vector<bool> waited_;                    // by unit, of what is gathered
  std::vector<bool> has_sums_;                  // by unit, over micro-batches before
  // Freed in forward, but a GPU may still compute with it (trainer/strategy/fsdp/shard_streams).
  std::optional<int> retired_;
  std::optional<UnderWay> under_way_;
};

}  // namespace shardlens::trace::predict
