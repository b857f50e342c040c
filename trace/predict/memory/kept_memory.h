// What a strategy keeps, gathers and reduces in the course of a step. Any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "trace/predict/memory/memory_ledger.h"
#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

// What part of the model is meant is told by its parameters, in registration order over all blocks.
class KeptMemory {
 public:
  explicit KeptMemory(MemoryLedger& ledger) : ledger_(ledger) {}
  virtual ~KeptMemory() = default;

  virtual void hold_at_rest() = 0;
  // `reduces`: gradients are reduced after this micro-batch; `adds`: to gradients of an earlier
  // one.
  virtual void begin_forward(bool reduces, bool adds) = 0;
  virtual void enter_layers(ParameterRange) {}
  virtual void leave_layers(ParameterRange) {}
  virtual void begin_backward() {}
  virtual void enter_layers_backward(ParameterRange) {}
  // Forward again, before backward of a block that had kept nothing.
  virtual void recompute_layers(ParameterRange) {}
  // Backward has come to the layer of this parameter.
  virtual void use_parameter(int) {}
  // A gradient of so many values was made (kFreshGradients) and finds its place.
  virtual void keep_gradient(std::int64_t values) = 0;
  virtual void leave_layers_backward(ParameterRange) {}
  virtual void end_backward() = 0;

  // Bytes in the host's memory, of offloaded shards.
  virtual std::int64_t host_bytes() const { return 0; }

 protected:
  MemoryLedger& ledger_;
};

// What is passed outlives it.
std::unique_ptr<KeptMemory> kept_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger);
// Of strategies with units.
std::unique_ptr<KeptMemory> unit_memory(const PlannedJob& job, const ModelSizes& sizes,
                                        MemoryLedger& ledger);

}  // namespace shardlens::trace::predict
