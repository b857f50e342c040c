#include "trace/predict/layers/block_backward.h"

namespace shardlens::trace::predict {

namespace {

struct LlamaBlock {
  const LayerSizes& s;
  BlockBackward backward;
  std::int64_t kept_product, kept_attention;  // inputs of trained matrices
  int per_projection;                         // parameters of the query's, key's and value's
  int per_mlp;                                // of each of the MLP's

  LlamaBlock(const LayerSizes& sizes, const BlockWeights& weights)
      : s(sizes),
        backward(sizes, weights),
        kept_product(backward.if_trained(sizes.product)),
        kept_attention(backward.if_trained(sizes.attention)),
        per_projection(sizes.qkv_bias ? 2 : 1),
        per_mlp(sizes.mlp_bias ? 2 : 1) {}

  // Indices of parameters.
  int attention_out() const { return 3 * per_projection; }
  int query_norm() const { return attention_out() + (s.output_bias ? 2 : 1); }
  int gate() const { return query_norm() + (s.qk_norm ? 2 : 0); }
  int input_norm() const { return gate() + 3 * per_mlp; }

  void add_mlp_backward();
  void add_attention_backward();
  void add_norm(int parameter);
  void add_head_norm(std::int64_t values, std::int64_t kept, int parameter);
  // Kept for the gradient of a norm's weight.
  std::int64_t normalized() const { return backward.if_trained(s.normalized); }
  std::int64_t head_norms() const {
    if (!s.qk_norm) return 0;
    return s.attention + s.key + s.head_norm_statistics +
           backward.if_trained(s.query_normalized + s.key_normalized);
  }
  std::int64_t matrices() const {
    return 2 * s.square_matrix + 2 * s.key_matrix + 3 * s.mlp_matrix;
  }
};

void LlamaBlock::add_norm(int parameter) {
  backward.add({.made = s.residual,
                .scratch = s.norm_scratch,
                .consumed = s.product + s.residual,
                .released = s.residual + s.norm_statistics + normalized(),
                .ends_output_gradient = parameter != input_norm()},
               parameter, 1);
}

void LlamaBlock::add_mlp_backward() {
  const int up = gate() + per_mlp, down = up + per_mlp;
  if (s.cast > 0) backward.add({.made = s.cast});
  backward.add_product({.made = s.mlp, .consumed = s.cast, .released = backward.if_trained(s.mlp)},
                       {"mlp.down_proj", s.mlp_matrix, down, per_mlp});
  backward.add({.made = 2 * s.mlp, .consumed = s.mlp, .released = 2 * s.mlp});
  backward.add_product(
      {.made = s.product, .consumed = s.mlp, .released = (s.casts_for_mlp - 1) * kept_product},
      {"mlp.up_proj", s.mlp_matrix, up, per_mlp});
  backward.add({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  backward.add_product({.made = s.product, .consumed = s.mlp + s.product, .released = kept_product},
                       {"mlp.gate_proj", s.mlp_matrix, gate(), per_mlp});
  add_norm(input_norm() + 1);
}

// Turned back first, as without a norm.
void LlamaBlock::add_head_norm(std::int64_t values, std::int64_t kept, int parameter) {
  backward.add({.scratch = 4 * values});
  backward.add({.made = values,
                .scratch = s.norm_scratch > 0 ? 2 * values : 0,
                .consumed = values,
                .released = values + s.head_norm_statistics / 2 + backward.if_trained(kept)},
               parameter, 1);
}

void LlamaBlock::add_attention_backward() {
  if (s.cast > 0) backward.add({.made = s.cast});
  backward.add_product(
      {.made = s.attention, .consumed = s.cast},
      {"self_attn.o_proj", s.square_matrix, attention_out(), s.output_bias ? 2 : 1});
  // Gradients of repeated keys and values are summed up, one after the other.
  backward.add({.made = s.attention + (s.repeated > 0 ? s.repeated : 2 * s.key),
                .scratch = 2 * s.attention_matrix,
                .consumed = s.attention,
                .released = s.attended + attention_result(s, kept_attention)});
  if (s.repeated > 0) backward.add({.made = 2 * s.key, .consumed = s.repeated});
  const std::int64_t own_casts = (s.casts_for_attention - 1) / 2 * kept_product;
  backward.add_product({.made = s.product, .consumed = s.key, .released = own_casts},
                       {"self_attn.v_proj", s.key_matrix, 2 * per_projection, per_projection});
  // Turning back makes four tensors as wide as what is turned.
  if (s.qk_norm) add_head_norm(s.key, s.key_normalized, query_norm() + 1);
  backward.add_product({.made = s.product,
                        .scratch = s.qk_norm ? 0 : 4 * s.key,
                        .consumed = s.key + s.product,
                        .released = own_casts + s.rotary / 2},
                       {"self_attn.k_proj", s.key_matrix, per_projection, per_projection});
  if (s.qk_norm) add_head_norm(s.attention, s.query_normalized, query_norm());
  backward.add_product({.made = s.product,
                        .scratch = s.qk_norm ? 0 : 4 * s.attention,
                        .consumed = s.attention + s.product,
                        .released = kept_product + s.rotary / 2},
                       {"self_attn.q_proj", s.square_matrix, 0, per_projection});
  add_norm(input_norm());
}

}  // namespace

LayerMemory llama_block_memory(const LayerSizes& s, const BlockWeights& weights) {
  LlamaBlock block(s, weights);
  LayerMemory memory;
  memory.input_bytes = s.residual;
  memory.cast_weights = s.autocast ? 2 * block.matrices() : 0;
  memory.saved = {{"residuals", 2 * s.residual},
                  {"norms", 2 * (s.norm_statistics + block.normalized()) +
                                (s.casts_for_attention + s.casts_for_mlp) * block.kept_product},
                  {"queries, keys, values", s.attended + s.rotary},
                  {"norms of heads", block.head_norms()},
                  {"attention", attention_result(s, block.kept_attention)},
                  {"MLP", 3 * s.mlp + block.backward.if_trained(s.mlp)},
                  {"weights in 16 bits", memory.cast_weights}};
  memory.forward_scratch = 2 * s.attention + 2 * s.residual;
  memory.unsaved_scratch = 2 * s.residual + s.product + 4 * s.mlp;
  block.add_mlp_backward();
  block.add_attention_backward();
  memory.backward = block.backward.take();
  return memory;
}

}  // namespace shardlens::trace::predict
