#include "trace/predict/layers/block_backward.h"

#include <algorithm>

namespace shardlens::trace::predict {

void BlockBackward::add(BackwardOperator op, int first_parameter, int parameters) {
  op.layer_parameter = first_parameter;
  if (!weights_.is_frozen) {
    op.first_parameter = first_parameter;
    op.parameters = parameters;
  }
  operators_.push_back(op);
}

void BlockBackward::add_product(BackwardOperator op, const BlockProduct& product) {
  const AdaptedLayer* adapter = add_adapter(product);
  const std::int64_t cast = sizes_.autocast ? 2 * product.values : 0;
  // Of the matrix, which comes after that of the input.
  const std::int64_t gradient = if_trained(sizes_.product_bytes * product.values);
  // What is made next to the matrix is not there yet while the matrix is expanded.
  op.scratch =
      std::max({op.scratch, weights_.while_expanding * product.values - op.made,
                weights_.expanded * product.values + sizes_.widening * op.made - if_trained(cast),
                sizes_.widening * gradient});
  op.released += cast;
  if (cast > 0 && !weights_.is_frozen) {
    op.made += cast;
    op.layer_parameter = product.first_parameter;
    add(op);
    op = {.consumed = cast};
  }
  add(op, product.first_parameter, product.parameters);
  if (adapter != nullptr) add({.made = adapter->input, .consumed = 2 * adapter->input});
}

void BlockBackward::add_mlp(const BlockProduct& last, const BlockProduct& first) {
  const LayerSizes& s = sizes_;
  const std::int64_t dropped = s.dropout_mask > 0 ? s.product : 0;
  add({.made = s.cast + dropped, .released = s.dropout_mask});
  add_product({.made = s.mlp, .consumed = s.cast + dropped, .released = if_trained(s.mlp)}, last);
  add({.made = s.mlp, .consumed = s.mlp, .released = s.mlp});
  add_product({.made = s.product, .consumed = s.mlp, .released = if_trained(s.product)}, first);
}

// Its gradients come before the layer's own; those of the input are summed up then.
const AdaptedLayer* BlockBackward::add_adapter(const BlockProduct& product) {
  const auto found = std::ranges::find(weights_.adapters, product.layer, &AdaptedLayer::layer);
  if (found == weights_.adapters.end()) return nullptr;
  const int factor_a = 2 * static_cast<int>(found - weights_.adapters.begin());
  add({.made = found->output, .layer_parameter = product.first_parameter});  // scaled
  add({.made = found->between,
       .scratch = sizes_.widening * found->between,
       .consumed = found->output,
       .released = found->between,
       .first_parameter = factor_a + 1,
       .parameters = 1});
  add({.made = found->input,
       .scratch = sizes_.widening * found->input,
       .consumed = found->between,
       .released = found->saved - found->between,
       .first_parameter = factor_a,
       .parameters = 1});
  return &*found;
}

std::int64_t attention_result(const LayerSizes& s, std::int64_t kept_input) {
  if (s.attention_matrix == 0) return s.attention + s.log_sum;
  return 3 * s.attention_matrix + kept_input;
}

}  // namespace shardlens::trace::predict
