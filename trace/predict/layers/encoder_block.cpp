#include <algorithm>

#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

namespace {

// Indices of a block's parameters, a weight and its bias each.
enum EncoderParameter {
  kQuery = 0,
  kKey = 2,
  kValue = 4,
  kAttentionDense = 6,
  kNormOfAttention = 8,
  kIntermediate = 10,
  kOutputDense = 12,
  kNormOfOutput = 14
};

// A norm's output, kept beside its casts: under autocast it is of another type than they.
std::int64_t kept_casts(const BlockBackward& backward, const LayerSizes& s) {
  return s.autocast ? backward.if_trained(s.product) : 0;
}

// Makes the gradient of the sum, which goes on to both terms.
void add_norm_backward(BlockBackward& backward, const LayerSizes& s, EncoderParameter first) {
  backward.add({.made = s.residual,
                .consumed = s.residual,
                .released = s.residual + s.norm_statistics,
                .ends_output_gradient = first == kNormOfOutput},
               first, 2);
}

void add_encoder_mlp_backward(BlockBackward& backward, const LayerSizes& s) {
  add_norm_backward(backward, s, kNormOfOutput);
  backward.add_mlp({"output.dense", s.mlp_matrix, kOutputDense},
                   {"intermediate.dense", s.mlp_matrix, kIntermediate});
  backward.add({.made = s.residual, .consumed = s.product + s.residual});  // of both terms
}

void add_encoder_attention_backward(BlockBackward& backward, const LayerSizes& s) {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  const std::int64_t kept_product = backward.if_trained(s.product);
  add_norm_backward(backward, s, kNormOfAttention);
  backward.add({.made = s.cast + dropped, .released = s.dropout_mask});
  backward.add_product({.made = s.product, .consumed = s.cast + dropped},
                       {"attention.output.dense", s.square_matrix, kAttentionDense});
  // No causal mask is added to the scores, which takes one matrix of them less.
  backward.add({.made = 3 * s.product,
                .scratch = s.attention_matrix,
                .consumed = s.product,
                .released = s.attended + attention_result(s, kept_product)});
  // Each makes a gradient of the input, added to that of those before.
  const std::int64_t casts = kept_casts(backward, s);
  backward.add_product({.made = s.product, .consumed = s.product, .released = casts},
                       {"attention.self.value", s.square_matrix, kValue});
  backward.add_product({.made = s.product, .consumed = 2 * s.product, .released = casts},
                       {"attention.self.key", s.square_matrix, kKey});
  backward.add_product({.made = s.product, .consumed = 2 * s.product, .released = kept_product},
                       {"attention.self.query", s.square_matrix, kQuery});
  backward.add({.made = s.residual, .consumed = s.product + s.residual});
}

}  // namespace

LayerMemory encoder_block_memory(const LayerSizes& s, const BlockWeights& weights) {
  BlockBackward backward(s, weights);
  const std::int64_t kept_product = backward.if_trained(s.product);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  memory.saves_input =
      !weights.is_frozen || std::ranges::any_of(weights.adapters, [](const AdaptedLayer& adapter) {
        return adapter.layer.starts_with("attention.self.");
      });
  memory.cast_weights = s.autocast ? 2 * (4 * s.square_matrix + 2 * s.mlp_matrix) : 0;
  memory.saved = {{"sums", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + kept_product + kept_casts(backward, s))},
                  {"queries, keys, values", s.attended},
                  {"attention", attention_result(s, kept_product)},
                  {"MLP", s.mlp + backward.if_trained(s.mlp)},
                  {"dropout", 2 * s.dropout_mask},
                  {"weights in 16 bits", memory.cast_weights}};
  memory.forward_scratch =
      std::max(s.product + 2 * s.residual, s.widening * s.mlp - backward.if_trained(s.mlp));
  memory.unsaved_scratch =
      2 * s.residual + s.product + std::max<std::int64_t>(2, 1 + s.widening) * s.mlp;
  add_encoder_mlp_backward(backward, s);
  add_encoder_attention_backward(backward, s);
  memory.backward = backward.take();
  return memory;
}

std::int64_t encoder_embeddings_memory(const LayerSizes& s) {
  return s.residual + s.norm_statistics + s.dropout_mask;
}

}  // namespace shardlens::trace::predict
