// A job that might be run: what predictions are made for. Plain values, any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::predict {

struct PlannedJob {
  job::Settings
      settings;  // must be valid; `ranks`, `device` and `model` are overruled by what follows
  job::ModelShape shape;
  std::int64_t ranks = 1;
  std::int64_t ranks_per_node = 1;
  // On a GPU kernels are fused; on a CPU dropout keeps the whole matrix of attention.
  bool on_gpu = false;
  // A CPU multiplies bf16 in fp32, in memory beside the result.
  bool widens_bf16 = false;

  // No sequence is longer than what the model sees.
  std::int64_t sequence() const {
    return std::min(settings.sequence_length, shape.longest_sequence());
  }
  std::int64_t tokens() const { return settings.batch_per_rank * sequence(); }
};

// Whether PyTorch does so on this machine's CPU, whatever it does on others.
bool this_cpu_widens_bf16();

// The job that `settings` describes, on one machine; `device: auto` counts as a CPU.
PlannedJob job_on_this_machine(const job::Settings& settings, const job::ModelShape& shape);

}  // namespace shardlens::trace::predict
