// The parameter tensors of a model, without a model: what is sharded, bucketed and planned for. How
// layers of a block go together is told by their names. Plain values, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

struct ParameterShape {
  static constexpr int kRoot = -1;

  std::string name;  // Hugging Face's
  std::vector<std::int64_t> sizes;
  int block = kRoot;  // the transformer block it is in, or kRoot

  std::int64_t numel() const;
};

// In registration order, shared ones once under their first name.
std::vector<ParameterShape> parameter_shapes(const ModelShape& shape);

// Weights of which a token only reads a row: positions, token types, and the input embedding unless
// it is the output matrix, too. Nothing is multiplied with them.
// `parameter` is one of parameter_shapes(shape).
bool is_lookup_table(const ModelShape& shape, const ParameterShape& parameter);
std::int64_t lookup_values(const ModelShape& shape);

// "transformer.h.0.attn.c_attn" of its weight or bias.
std::string_view layer_of(std::string_view parameter);

// Whether what comes out of `before` goes into `after`, two layers of one block.
bool feeds(std::string_view before, std::string_view after);
// Whether a layer multiplies the result of attention.
bool is_behind_attention(std::string_view layer);

}  // namespace shardlens::trace::job
