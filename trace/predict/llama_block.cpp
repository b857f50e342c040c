#include "trace/predict/llama_block.h"

namespace shardlens::trace {

namespace {

std::int64_t llama_attention_result(const LayerSizes& s, std::int64_t kept_input) {
  if (s.attention_matrix == 0) return s.attention + s.log_sum;
  return 3 * s.attention_matrix + kept_input;
}

struct LlamaBlock {
  const LayerSizes& s;
  bool is_frozen;
  std::int64_t kept_product, kept_attention, kept_mlp;  // inputs of trained matrices
  std::int64_t normalized;                              // kept for the gradient of a norm's weight
  int per_projection;  // parameters of the query's, key's and value's
  int per_mlp;         // of each of the MLP's

  LlamaBlock(const LayerSizes& sizes, bool frozen)
      : s(sizes),
        is_frozen(frozen),
        kept_product(frozen ? 0 : sizes.product),
        kept_attention(frozen ? 0 : sizes.attention),
        kept_mlp(frozen ? 0 : sizes.mlp),
        normalized(frozen ? 0 : sizes.normalized),
        per_projection(sizes.qkv_bias ? 2 : 1),
        per_mlp(sizes.mlp_bias ? 2 : 1) {}

  // A product with a matrix of `values`. Under autocast its copy in 16 bits goes, and its gradient
  // is made in 16 bits and cast.
  void add_product(std::vector<BackwardOperator>& backward, BackwardOperator op,
                   std::int64_t values, int first, int count = 1) const {
    if (!s.autocast) return backward.push_back(with(op, first, count));
    op.released += 2 * values;
    if (is_frozen) return backward.push_back(op);
    op.made += 2 * values;
    backward.push_back(op);
    backward.push_back(with({.consumed = 2 * values}, first, count));
  }
  BackwardOperator with(BackwardOperator op, int first, int count = 1) const {
    if (is_frozen) return op;
    op.first_parameter = first;
    op.parameters = count;
    return op;
  }
  BackwardOperator norm(int parameter) const {
    return with({.made = s.residual,
                 .scratch = s.norm_scratch,
                 .consumed = s.product + s.residual,
                 .released = s.residual + s.norm_statistics + normalized},
                parameter);
  }

  void add_mlp_backward(std::vector<BackwardOperator>& backward) const;
  void add_attention_backward(std::vector<BackwardOperator>& backward) const;
  // Indices of parameters.
  int attention_out() const { return 3 * per_projection; }
  int query_norm() const { return attention_out() + (s.output_bias ? 2 : 1); }
  int gate() const { return query_norm() + (s.qk_norm ? 2 : 0); }
  int input_norm() const { return gate() + 3 * per_mlp; }
  void add_head_norm_backward(std::vector<BackwardOperator>& backward, std::int64_t values,
                              std::int64_t kept, std::int64_t statistics, int parameter) const;
  std::int64_t head_norms() const {
    if (!s.qk_norm) return 0;
    const std::int64_t kept = is_frozen ? 0 : s.query_normalized + s.key_normalized;
    return s.attention + s.key + s.head_norm_statistics + kept;
  }
  std::int64_t matrices() const {
    return 2 * s.square_matrix + 2 * s.key_matrix + 3 * s.mlp_matrix;
  }
};

void LlamaBlock::add_mlp_backward(std::vector<BackwardOperator>& backward) const {
  const int up = gate() + per_mlp, down = up + per_mlp;
  if (s.cast > 0) backward.push_back({.made = s.cast});
  add_product(backward, {.made = s.mlp, .consumed = s.cast, .released = kept_mlp}, s.mlp_matrix,
              down, per_mlp);
  backward.push_back({.made = 2 * s.mlp, .consumed = s.mlp, .released = 2 * s.mlp});
  add_product(
      backward,
      {.made = s.product, .consumed = s.mlp, .released = (s.casts_for_mlp - 1) * kept_product},
      s.mlp_matrix, up, per_mlp);
  backward.push_back({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  add_product(backward,
              {.made = s.product, .consumed = s.mlp + s.product, .released = kept_product},
              s.mlp_matrix, gate(), per_mlp);
  backward.push_back(norm(input_norm() + 1));
}

// Turned back first, as without a norm.
void LlamaBlock::add_head_norm_backward(std::vector<BackwardOperator>& backward,
                                        std::int64_t values, std::int64_t kept,
                                        std::int64_t statistics, int parameter) const {
  backward.push_back({.scratch = 4 * values});
  const std::int64_t scratch = s.norm_scratch > 0 ? 2 * values : 0;
  backward.push_back(with({.made = values,
                           .scratch = scratch,
                           .consumed = values,
                           .released = values + statistics + (is_frozen ? 0 : kept)},
                          parameter));
}

void LlamaBlock::add_attention_backward(std::vector<BackwardOperator>& backward) const {
  if (s.cast > 0) backward.push_back({.made = s.cast});
  add_product(backward, {.made = s.attention, .consumed = s.cast}, s.square_matrix, attention_out(),
              s.output_bias ? 2 : 1);
  // Gradients of repeated keys and values are summed up, one after the other.
  backward.push_back({.made = s.attention + (s.repeated > 0 ? s.repeated : 2 * s.key),
                      .scratch = 2 * s.attention_matrix,
                      .consumed = s.attention,
                      .released = s.attended + llama_attention_result(s, kept_attention)});
  if (s.repeated > 0) backward.push_back({.made = 2 * s.key, .consumed = s.repeated});
  const std::int64_t own_casts = (s.casts_for_attention - 1) / 2 * kept_product;
  add_product(backward, {.made = s.product, .consumed = s.key, .released = own_casts}, s.key_matrix,
              2 * per_projection, per_projection);
  // Turning back makes four tensors as wide as what is turned.
  if (s.qk_norm) {
    add_head_norm_backward(backward, s.key, s.key_normalized, s.head_norm_statistics / 2,
                           query_norm() + 1);
  }
  add_product(backward,
              {.made = s.product,
               .scratch = s.qk_norm ? 0 : 4 * s.key,
               .consumed = s.key + s.product,
               .released = own_casts + s.rotary / 2},
              s.key_matrix, per_projection, per_projection);
  if (s.qk_norm) {
    add_head_norm_backward(backward, s.attention, s.query_normalized, s.head_norm_statistics / 2,
                           query_norm());
  }
  add_product(backward,
              {.made = s.product,
               .scratch = s.qk_norm ? 0 : 4 * s.attention,
               .consumed = s.attention + s.product,
               .released = kept_product + s.rotary / 2},
              s.square_matrix, 0, per_projection);
  backward.push_back(norm(input_norm()));
}

}  // namespace

LayerMemory llama_block_memory(const LayerSizes& s, bool is_frozen) {
  const LlamaBlock block(s, is_frozen);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  memory.cast_weights = s.autocast ? 2 * block.matrices() : 0;
  memory.saved = {{"residuals", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + block.normalized) +
                                (s.casts_for_attention + s.casts_for_mlp) * block.kept_product},
                  {"queries, keys, values", s.attended + s.rotary},
                  {"norms of heads", block.head_norms()},
                  {"attention", llama_attention_result(s, block.kept_attention)},
                  {"MLP", 3 * s.mlp + block.kept_mlp},
                  {"weights in 16 bits", memory.cast_weights}};
  memory.forward_scratch = 2 * s.attention + 2 * s.residual;
  memory.unsaved_scratch = 2 * s.residual + s.product + 4 * s.mlp;
  block.add_mlp_backward(memory.backward);
  block.add_attention_backward(memory.backward);
  return memory;
}

}  // namespace shardlens::trace
