#include <algorithm>

#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

namespace {

// Indices of a block's parameters, a weight and its bias each.
enum Gpt2Parameter {
  kNorm1 = 0,
  kQkv = 2,
  kAttentionOut = 4,
  kNorm2 = 6,
  kMlpIn = 8,
  kMlpOut = 10
};

void add_gpt2_mlp_backward(BlockBackward& backward, const LayerSizes& s) {
  backward.add_mlp({"mlp.c_proj", s.mlp_matrix, kMlpOut}, {"mlp.c_fc", s.mlp_matrix, kMlpIn});
  backward.add({.made = s.residual,
                .consumed = s.product + s.residual,
                .released = s.residual + s.norm_statistics,
                .ends_output_gradient = true},
               kNorm2, 2);
}

void add_gpt2_attention_backward(BlockBackward& backward, const LayerSizes& s) {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  const std::int64_t kept_input = backward.if_trained(s.product);
  backward.add({.made = s.cast + dropped, .released = s.dropout_mask});
  backward.add_product({.made = s.product, .consumed = s.cast + dropped},
                       {"attn.c_proj", s.square_matrix, kAttentionOut});
  backward.add({.made = 3 * s.product,
                .scratch = 2 * s.attention_matrix,
                .consumed = s.product,
                .released = s.attended + attention_result(s, kept_input)});
  // Gradients of queries, keys and values become one tensor.
  backward.add({.made = 3 * s.product, .consumed = 3 * s.product});
  backward.add_product({.made = s.product, .consumed = 3 * s.product, .released = kept_input},
                       {"attn.c_attn", 3 * s.square_matrix, kQkv});
  backward.add({.made = s.residual,
                .consumed = s.product + s.residual,
                .released = s.residual + s.norm_statistics},
               kNorm1, 2);
}

}  // namespace

LayerMemory gpt2_block_memory(const LayerSizes& s, const BlockWeights& weights) {
  BlockBackward backward(s, weights);
  const std::int64_t kept_product = backward.if_trained(s.product);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  memory.cast_weights = s.autocast ? 2 * (2 * s.mlp_matrix + 4 * s.square_matrix) : 0;
  memory.saved = {{"residuals", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + kept_product)},
                  {"queries, keys, values", s.attended},
                  {"attention", attention_result(s, kept_product)},
                  {"MLP", s.mlp + backward.if_trained(s.mlp)},
                  {"dropout", 2 * s.dropout_mask},
                  {"weights in 16 bits", memory.cast_weights}};
  memory.forward_scratch =
      std::max(s.product + 2 * s.residual, s.widening * s.mlp - backward.if_trained(s.mlp));
  memory.unsaved_scratch =
      2 * s.residual + s.product + std::max<std::int64_t>(2, 1 + s.widening) * s.mlp;
  add_gpt2_mlp_backward(backward, s);
  add_gpt2_attention_backward(backward, s);
  memory.backward = backward.take();
  return memory;
}

}  // namespace shardlens::trace::predict
