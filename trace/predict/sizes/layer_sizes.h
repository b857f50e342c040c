// Bytes of the tensors that flow through one layer of a job. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct LayerSizes {
  std::int64_t tokens = 0;
  std::int64_t residual_bytes = 4, product_bytes = 4;  // per value
  // Of fp32 beside each byte of a product's result, while it is multiplied.
  std::int64_t widening = 0;
  bool autocast = false;
  bool qkv_bias = false, output_bias = false, mlp_bias = false, qk_norm = false;

  std::int64_t residual = 0;   // what flows between layers
  std::int64_t product = 0;    // as wide, as a matrix product takes it
  std::int64_t attention = 0;  // as `product`, as wide as the heads of queries together
  std::int64_t attended = 0;   // queries, keys and values, as attention keeps them
  std::int64_t repeated = 0;   // keys and values once for each head of queries; 0: they are not
  std::int64_t key = 0;        // of all its heads; a value as much
  std::int64_t mlp = 0;        // one hidden tensor of the MLP
  std::int64_t norm_statistics = 0;  // of one norm
  std::int64_t normalized = 0;       // what RMSNorm keeps besides, where it is not fused
  std::int64_t norm_scratch = 0;
  std::int64_t head_norm_statistics = 0;  // of the norms of queries' and keys' heads
  std::int64_t query_normalized = 0, key_normalized = 0;  // what these keep besides their inputs
  std::int64_t log_sum = 0;                               // of attention's softmax
  std::int64_t attention_matrix = 0;                      // 0 where attention is fused
  // How often the input of several products is kept: autocast casts it for each.
  std::int64_t casts_for_attention = 1, casts_for_mlp = 1;
  std::int64_t rotary = 0;        // tables of positions, cast for each use
  std::int64_t dropout_mask = 0;  // of one dropout as wide as the model; 0: no dropout
  std::int64_t cast = 0;          // of a gradient on its way into a product in 16 bits
  // Values of matrices: width x queries' width, width x keys' width, width x MLP's width.
  std::int64_t square_matrix = 0, key_matrix = 0, mlp_matrix = 0;
};

LayerSizes layer_sizes(const PlannedJob& job);

}  // namespace shardlens::trace::predict
