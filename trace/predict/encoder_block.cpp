#include "trace/predict/encoder_block.h"

namespace shardlens::trace {

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

std::int64_t encoder_attention_result(const LayerSizes& s, std::int64_t kept_input) {
  if (s.attention_matrix == 0) return s.product + s.log_sum;
  return 3 * s.attention_matrix + kept_input;
}

struct EncoderBlock {
  const LayerSizes& s;
  bool is_frozen;
  std::int64_t kept_product, kept_mlp;  // inputs of trained matrices
  // A norm's output, kept beside its casts: under autocast it is of another type than they.
  std::int64_t kept_casts;

  EncoderBlock(const LayerSizes& sizes, bool frozen)
      : s(sizes),
        is_frozen(frozen),
        kept_product(frozen ? 0 : sizes.product),
        kept_mlp(frozen ? 0 : sizes.mlp),
        kept_casts(frozen || !sizes.autocast ? 0 : sizes.product) {}

  BackwardOperator with(BackwardOperator op, EncoderParameter first) const {
    if (is_frozen) return op;
    op.first_parameter = first;
    op.parameters = 2;
    return op;
  }
  // Under autocast the copy of the weights in 16 bits goes, and their gradient is made so and cast.
  void add_product(std::vector<BackwardOperator>& backward, BackwardOperator op,
                   std::int64_t values, EncoderParameter first) const {
    if (!s.autocast) return backward.push_back(with(op, first));
    op.released += 2 * values;
    if (is_frozen) return backward.push_back(op);
    op.made += 2 * values;
    backward.push_back(op);
    backward.push_back(with({.consumed = 2 * values}, first));
  }
  // Makes the gradient of the sum, which goes on to both terms.
  BackwardOperator norm(EncoderParameter first) const {
    return with(
        {.made = s.residual, .consumed = s.residual, .released = s.residual + s.norm_statistics},
        first);
  }

  void add_mlp_backward(std::vector<BackwardOperator>& backward) const;
  void add_attention_backward(std::vector<BackwardOperator>& backward) const;
};

void EncoderBlock::add_mlp_backward(std::vector<BackwardOperator>& backward) const {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  backward.push_back(norm(kNormOfOutput));
  backward.push_back({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product(backward, {.made = s.mlp, .consumed = s.cast + dropped, .released = kept_mlp},
              s.mlp_matrix, kOutputDense);
  backward.push_back({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  add_product(backward, {.made = s.product, .consumed = s.mlp, .released = kept_product},
              s.mlp_matrix, kIntermediate);
  backward.push_back({.made = s.residual, .consumed = s.product + s.residual});  // of both terms
}

void EncoderBlock::add_attention_backward(std::vector<BackwardOperator>& backward) const {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  backward.push_back(norm(kNormOfAttention));
  backward.push_back({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product(backward, {.made = s.product, .consumed = s.cast + dropped}, s.square_matrix,
              kAttentionDense);
  // No causal mask is added to the scores, which takes one matrix of them less.
  backward.push_back({.made = 3 * s.product,
                      .scratch = s.attention_matrix,
                      .consumed = s.product,
                      .released = s.attended + encoder_attention_result(s, kept_product)});
  // Each makes a gradient of the input, added to that of those before.
  add_product(backward, {.made = s.product, .consumed = s.product, .released = kept_casts},
              s.square_matrix, kValue);
  add_product(backward, {.made = s.product, .consumed = 2 * s.product, .released = kept_casts},
              s.square_matrix, kKey);
  add_product(backward, {.made = s.product, .consumed = 2 * s.product, .released = kept_product},
              s.square_matrix, kQuery);
  backward.push_back({.made = s.residual, .consumed = s.product + s.residual});
}

}  // namespace

LayerMemory encoder_block_memory(const LayerSizes& s, bool is_frozen) {
  const EncoderBlock block(s, is_frozen);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  const std::int64_t matrices = 4 * s.square_matrix + 2 * s.mlp_matrix;
  memory.cast_weights = s.autocast ? 2 * matrices : 0;
  memory.saved = {{"sums", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + block.kept_product) + 2 * block.kept_casts},
                  {"queries, keys, values", s.attended},
                  {"attention", encoder_attention_result(s, block.kept_product)},
                  {"MLP", s.mlp + block.kept_mlp},
                  {"dropout", 2 * s.dropout_mask},
                  {"weights in 16 bits", memory.cast_weights}};
  memory.forward_scratch = s.product + 2 * s.residual;
  memory.unsaved_scratch = 2 * s.residual + s.product + 2 * s.mlp;
  block.add_mlp_backward(memory.backward);
  block.add_attention_backward(memory.backward);
  return memory;
}

std::int64_t encoder_embeddings_memory(const LayerSizes& s) {
  return s.residual + s.norm_statistics + s.dropout_mask;
}

}  // namespace shardlens::trace
