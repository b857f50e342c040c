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
  virtual ~KeptMemory() = default;

  virtual void hold_at_rest(MemoryLedger& ledger) = 0;
  // `reduces`: gradients are reduced after this micro-batch; `adds`: to gradients of an earlier
  // one.
  virtual void begin_forward(MemoryLedger& ledger, bool reduces, bool adds) = 0;
  virtual void enter_layers(MemoryLedger&, ParameterRange) {}
  virtual void leave_layers(MemoryLedger&, ParameterRange) {}
  virtual void begin_backward(MemoryLedger&) {}
  virtual void enter_layers_backward(MemoryLedger&, ParameterRange) {}
  // Forward again, before backward of a block that had kept nothing.
  virtual void recompute_layers(MemoryLedger&, ParameterRange) {}
  // Backward has come to the layer of this parameter.
  virtual void use_parameter(MemoryLedger&, int) {}
  // A gradient of so many values was made (kFreshGradients) and finds its place.
  virtual void keep_gradient(MemoryLedger& ledger, std::int64_t values) = 0;
  virtual void leave_layers_backward(MemoryLedger&, ParameterRange) {}
  virtual void end_backward(MemoryLedger& ledger) = 0;

  // Bytes in the host's memory, of offloaded shards.
  virtual std::int64_t host_bytes() const { return 0; }
};

std::unique_ptr<KeptMemory> kept_memory(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace::predict
