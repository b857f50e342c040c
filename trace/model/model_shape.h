// What a decoder language model looks like, before a byte of it is allocated: presets, parameter
// counts, operation counts. Plain values, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/model/result.h"

namespace shardlens::trace {

enum class ModelLayout : std::uint8_t {
  kGpt2,   // learned positions, LayerNorm, GELU, tied head
  kLlama,  // rotary positions, RMSNorm, SwiGLU, grouped-query attention
};
std::string_view to_string(ModelLayout);

// How Llama 3 stretches its rotary positions; a factor of 0 leaves them as they are.
struct RotaryScaling {
  double factor = 0;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  std::int64_t original_context = 8192;
};

struct ModelShape {
  std::string_view name;
  ModelLayout layout = ModelLayout::kGpt2;
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t mlp_width = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  // longest sequence
  bool tied_head = true;     // the output matrix is the embedding
  bool qkv_bias = false;     // Llama only: query, key and value have biases, as Qwen2's
  double norm_epsilon = 1e-5;
  double rotary_base = 10000;  // Llama only, as `rotary`
  RotaryScaling rotary;

  std::int64_t head_width() const { return width / heads; }
};

std::span<const ModelShape> model_presets();
// Error kUsage: no such preset; all are named.
Result<ModelShape> find_model_preset(std::string_view name);

// Larger models that can be planned for, not trained here.
std::span<const ModelShape> planning_presets();
// Of either list. Error kUsage: in neither; all are named.
Result<ModelShape> find_planning_model(std::string_view name);

// All values, shared ones counted once.
std::int64_t parameter_count(const ModelShape& shape);

// Operations of forward and backward per token, 6·N + 12·L·C·T (Chowdhery et al. 2022, PaLM,
// appendix B). The weights of frozen blocks count 4 each: forward, and the gradient that passes
// through. What is computed a second time, to save memory, is not counted.
std::int64_t flops_per_token(const ModelShape& shape, std::int64_t sequence_length,
                             std::int64_t frozen_blocks = 0);

}  // namespace shardlens::trace
