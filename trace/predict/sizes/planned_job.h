// A job that might be run: what predictions are made for. Plain values, any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

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
  // A CPU multiplies bf16 in fp32, in memory beside the result; PyTorch does so on some.
  bool widens_bf16 = false;
  // On a GPU, what cuBLAS may work in: for each of the threads that multiply matrices, which are
  // that of forward and that of backward.
  std::int64_t workspace_bytes = 0;
  // Of batches whose texts are padded, which are as wide as their longest; 0: all are full.
  std::int64_t padded_width = 0;

  // No sequence is longer than what the model sees.
  std::int64_t sequence() const {
    const std::int64_t full = std::min(settings.sequence_length, shape.longest_sequence());
    return padded_width > 0 ? std::min(full, padded_width) : full;
  }
  std::int64_t tokens() const { return settings.batch_per_rank * sequence(); }
  // Of how many tokens at a time the loss is computed; 0: of all at once, as a classifier's is. The
  // trainer decides it before it knows how long texts are (TrainLoop::loss_chunks).
  std::int64_t loss_chunk() const;
};

// What PyTorch 2.11 gives cuBLAS for each thread (ATen/cuda/CublasHandlePool.cpp): as much as
// `config`, the value of CUBLAS_WORKSPACE_CONFIG, says (":4096:8": KiB and how many of them), else
// 32 MiB on a Hopper and 8.125 MiB on others. `gpu` is named as by its driver.
std::int64_t cublas_workspace_bytes(std::string_view gpu, std::string_view config = {});

// The job that `settings` describes, on one machine; `device: auto` counts as a CPU.
PlannedJob job_on_this_machine(const job::Settings& settings, const job::ModelShape& shape);

// How many bytes a value takes, by what it is for.
struct ElementBytes {
  std::int64_t master = 4;    // parameters, or their shards, that the optimizer updates
  std::int64_t gathered = 4;  // parameters as they are computed with, and their gradients
  std::int64_t reduced = 4;   // gradients while they are reduced
  // Gradients of micro-batches are added up in the type in which they are reduced, another one than
  // that in which they are made.
  bool adds_as_reduced = false;
  std::int64_t residual = 4;  // between layers
  std::int64_t product = 4;   // what matrix products take and give
  bool autocast = false;      // weights are cast for each product
};

ElementBytes element_bytes(const job::Settings& settings);

}  // namespace shardlens::trace::predict
