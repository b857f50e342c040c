#include "trace/predict/gpt2_block.h"

namespace shardlens::trace {

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

// What attention keeps besides its queries, keys and values.
std::int64_t attention_result(const LayerSizes& s, std::int64_t kept_input) {
  if (s.attention_matrix == 0) return s.product + s.log_sum;
  return 3 * s.attention_matrix + kept_input;
}

struct Gpt2Block {
  const LayerSizes& s;
  bool is_frozen;
  std::int64_t kept_product, kept_mlp;  // inputs of trained matrices
  std::int64_t cast_mlp, cast_square;   // autocast's copies of one MLP and one square matrix

  explicit Gpt2Block(const LayerSizes& sizes, bool frozen)
      : s(sizes),
        is_frozen(frozen),
        kept_product(frozen ? 0 : sizes.product),
        kept_mlp(frozen ? 0 : sizes.mlp),
        cast_mlp(sizes.autocast ? 2 * sizes.mlp_matrix : 0),
        cast_square(sizes.autocast ? 2 * sizes.square_matrix : 0) {}

  std::int64_t cast_weights() const { return 2 * cast_mlp + 4 * cast_square; }

  BackwardOperator with(BackwardOperator op, Gpt2Parameter first) const {
    if (is_frozen) return op;
    op.first_parameter = first;
    op.parameters = 2;
    return op;
  }
  // A matrix product, of which autocast keeps `weights` bytes in 16 bits. Its gradient is made in
  // 16 bits and cast.
  void add_product(std::vector<BackwardOperator>& backward, BackwardOperator op,
                   std::int64_t weights, Gpt2Parameter first) const {
    op.released += weights;
    if (weights == 0 || is_frozen) return backward.push_back(with(op, first));
    op.made += weights;
    backward.push_back(op);
    backward.push_back(with({.consumed = weights}, first));
  }

  void add_mlp_backward(std::vector<BackwardOperator>& backward) const;
  void add_attention_backward(std::vector<BackwardOperator>& backward) const;
};

void Gpt2Block::add_mlp_backward(std::vector<BackwardOperator>& backward) const {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  backward.push_back({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product(backward, {.made = s.mlp, .consumed = s.cast + dropped, .released = kept_mlp},
              cast_mlp, kMlpOut);
  backward.push_back({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  add_product(backward, {.made = s.product, .consumed = s.mlp, .released = kept_product}, cast_mlp,
              kMlpIn);
  backward.push_back(with({.made = s.residual,
                           .consumed = s.product + s.residual,
                           .released = s.residual + s.norm_statistics},
                          kNorm2));
}

void Gpt2Block::add_attention_backward(std::vector<BackwardOperator>& backward) const {
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  backward.push_back({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product(backward, {.made = s.product, .consumed = s.cast + dropped}, cast_square,
              kAttentionOut);
  backward.push_back({.made = 3 * s.product,
                      .scratch = 2 * s.attention_matrix,
                      .consumed = s.product,
                      .released = s.attended + attention_result(s, kept_product)});
  // Gradients of queries, keys and values become one tensor.
  backward.push_back({.made = 3 * s.product, .consumed = 3 * s.product});
  add_product(backward, {.made = s.product, .consumed = 3 * s.product, .released = kept_product},
              3 * cast_square, kQkv);
  backward.push_back(with({.made = s.residual,
                           .consumed = s.product + s.residual,
                           .released = s.residual + s.norm_statistics},
                          kNorm1));
}

}  // namespace

LayerMemory gpt2_block_memory(const LayerSizes& s, bool is_frozen) {
  const Gpt2Block block(s, is_frozen);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  memory.cast_weights = block.cast_weights();
  memory.saved = {{"residuals", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + block.kept_product)},
                  {"queries, keys, values", s.attended},
                  {"attention", attention_result(s, block.kept_product)},
                  {"MLP", s.mlp + block.kept_mlp},
                  {"dropout", 2 * s.dropout_mask},
                  {"weights in 16 bits", block.cast_weights()}};
  memory.forward_scratch = s.product + 2 * s.residual;
  memory.unsaved_scratch = 2 * s.residual + s.product + 2 * s.mlp;
  block.add_mlp_backward(memory.backward);
  block.add_attention_backward(memory.backward);
  return memory;
}

}  // namespace shardlens::trace
