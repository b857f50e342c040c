// What a model looks like, before a byte of it is allocated: presets, parameter counts, operation
// counts. Plain values, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

enum class ModelLayout : std::uint8_t {
  kGpt2,     // decoder: learned positions, LayerNorm, GELU, tied head
  kLlama,    // decoder: rotary positions, RMSNorm, SwiGLU, grouped-query attention
  kBert,     // encoder that classifies sequences: norms come after what they normalise
  kRoberta,  // as BERT, with positions that skip padding, and a head of its own
};
std::string_view to_string(ModelLayout);
inline bool is_encoder(ModelLayout layout) {
  return layout == ModelLayout::kBert || layout == ModelLayout::kRoberta;
}

// Of the MLP; Llama's layout has SiLU.
enum class Activation : std::uint8_t { kGeluTanh, kGelu, kRelu };
std::string_view to_string(Activation);

// How rotary positions are stretched, as transformers' `rope_type` of the same name.
enum class RotaryKind : std::uint8_t { kLlama3, kLinear, kDynamic, kYarn };
std::string_view to_string(RotaryKind);

// A factor of 0 leaves positions as they are.
struct RotaryScaling {
  double factor = 0;
  double low_frequency_factor = 1;   // Llama 3
  double high_frequency_factor = 4;  // Llama 3
  std::int64_t original_context = 8192;
  RotaryKind kind = RotaryKind::kLlama3;
  double beta_fast = 32, beta_slow = 1;  // YaRN
  double attention_factor = 1;           // YaRN: what sine and cosine are multiplied by
  bool truncates = true;                 // YaRN: the blended range has whole ends

  bool operator==(const RotaryScaling&) const = default;
};

struct ModelShape {
  std::string name;
  ModelLayout layout = ModelLayout::kGpt2;
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t mlp_width = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  // longest sequence
  bool tied_head = true;     // the output matrix is the embedding
  double norm_epsilon = 1e-5;

  // Llama only.
  bool qkv_bias = false;         // query, key and value have biases, as Qwen2's
  bool output_bias = false;      // of attention
  bool mlp_bias = false;         //
  bool qk_norm = false;          // queries and keys are normalised head by head, as Qwen3's
  std::int64_t head_size = 0;    // of a head; 0: width / heads
  double rotary_base = 10000;    //
  RotaryScaling rotary{};        //
  std::int64_t window = 0;       // how many tokens a token sees, itself included; 0: all
  std::int64_t full_layers = 0;  // the first ones see all tokens in spite of `window`

  // GPT-2 and the encoders.
  Activation activation = Activation::kGeluTanh;
  bool scales_attention = true;            // by 1/√(head width); GPT-2 only, as what follows
  bool scales_attention_by_layer = false;  // by 1/(layer + 1) besides

  // All but GPT-2: the token whose embedding is not trained, -1: none. RoBERTa counts positions
  // from the one after it.
  std::int64_t padding_token = -1;

  // Encoders only.
  std::int64_t token_types = 0;
  std::int64_t labels = 0;  // classes

  std::int64_t head_width() const { return head_size > 0 ? head_size : width / heads; }
  std::int64_t attention_width() const { return heads * head_width(); }
  std::int64_t kv_width() const { return kv_heads * head_width(); }
  // Longest sequence of tokens: RoBERTa has no use for its first positions.
  std::int64_t longest_sequence() const {
    return layout == ModelLayout::kRoberta ? context - padding_token - 1 : context;
  }
  bool operator==(const ModelShape&) const = default;
};

std::span<const ModelShape> model_presets();
// Error kUsage: no such preset; all are named.
base::Result<ModelShape> find_model_preset(std::string_view name);

// Larger models that can be planned for, not trained here.
std::span<const ModelShape> planning_presets();
// A preset of either kind. Error kUsage: there is none of that name; it lists all.
base::Result<ModelShape> find_planning_model(std::string_view name);

// All values, shared ones counted once.
std::int64_t parameter_count(const ModelShape& shape);

// Operations of forward and backward per token, 6·N + 12·L·C·T with C the width of attention
// (Chowdhery et al. 2022, PaLM, appendix B). The weights of frozen blocks count 4 each: forward,
// and the gradient that passes through. What is computed a second time, to save memory, is not
// counted.
std::int64_t flops_per_token(const ModelShape& shape, std::int64_t sequence_length,
                             std::int64_t frozen_blocks = 0);

// Error kUsage: so many tokens do not fit the model's context.
base::Result<void> check_sequence(const ModelShape& shape, std::int64_t sequence_length);

// `loss_chunk_tokens` as it acts on micro-batches of `tokens` tokens; 0: all at once, by PyTorch's
// own operators. `auto` is 0 as long as all logits in fp32 take less than 32 MiB, where nothing is
// to be saved. Else it is a power of two of at least 1,024 and twice the model's width: per chunk
// the gradient of the output matrix is read and written once more, which then costs a small part
// of the chunk's own matrix products.
std::int64_t loss_chunk_tokens(const Settings& settings, const ModelShape& shape,
                               std::int64_t tokens);

}  // namespace shardlens::trace::job
