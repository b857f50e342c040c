#include "trace/job/shape/model_shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <string>
#include <vector>

#include "trace/base/median.h"
#include "trace/base/text.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::job {

namespace {

ModelShape gpt2_shape(std::string_view name, std::int64_t layers, std::int64_t width,
                      std::int64_t heads, std::int64_t vocabulary, std::int64_t context) {
  return {.name = std::string(name),
          .layers = layers,
          .width = width,
          .heads = heads,
          .kv_heads = heads,
          .mlp_width = 4 * width,
          .vocabulary = vocabulary,
          .context = context};
}

// GPT-2's layout as training benchmarks have it: a vocabulary padded to a multiple of 64, and an
// output matrix of its own.
ModelShape benchmark_shape(std::string_view name, std::int64_t layers, std::int64_t width,
                           std::int64_t heads) {
  ModelShape shape = gpt2_shape(name, layers, width, heads, 50304, 1024);
  shape.tied_head = false;
  return shape;
}

ModelShape llama_shape(std::string_view name, std::int64_t layers, std::int64_t width,
                       std::int64_t heads, std::int64_t kv_heads, std::int64_t mlp_width,
                       std::int64_t vocabulary, std::int64_t context, double rotary_base) {
  return {.name = std::string(name),
          .layout = ModelLayout::kLlama,
          .layers = layers,
          .width = width,
          .heads = heads,
          .kv_heads = kv_heads,
          .mlp_width = mlp_width,
          .vocabulary = vocabulary,
          .context = context,
          .tied_head = false,
          .rotary_base = rotary_base};
}

// Llama 3.2 1B, from its config.json.
ModelShape llama_1b_shape() {
  ModelShape shape = llama_shape("llama-1b", 16, 2048, 32, 8, 8192, 128256, 131072, 500000);
  shape.tied_head = true;
  shape.rotary.factor = 32;
  return shape;
}

ModelShape qwen2_7b_shape() {
  ModelShape shape = llama_shape("qwen2-7b", 28, 3584, 28, 4, 18944, 152064, 131072, 1000000);
  shape.qkv_bias = true;
  shape.norm_epsilon = 1e-6;
  return shape;
}

base::Result<ModelShape> find_in(std::initializer_list<std::span<const ModelShape>> lists,
                                 std::string_view name) {
  std::string names;
  for (const auto list : lists) {
    for (const ModelShape& shape : list) {
      if (shape.name == name) return shape;
      names += (names.empty() ? "" : ", ") + shape.name;
    }
  }
  return base::fail(base::ErrorKind::kUsage, "There is no model \"" + std::string(name) +
                                                 "\". Choose one of " + names + ".");
}

std::int64_t values_with_layers(const ModelShape& shape, std::int64_t layers) {
  ModelShape cut = shape;
  cut.layers = layers;
  return base::sum_of(parameter_shapes(cut), &ParameterShape::numel);
}

constexpr std::int64_t kSmallLogitsBytes = std::int64_t{32} << 20;
constexpr std::int64_t kSmallestAutoChunk = 1024;

}  // namespace

std::string_view to_string(ModelLayout layout) {
  constexpr std::array<std::string_view, 4> kNames{"GPT-2", "Llama", "BERT", "RoBERTa"};
  return base::enum_name<ModelLayout::kRoberta>(kNames, layout);
}

std::string_view to_string(Activation activation) {
  constexpr std::array<std::string_view, 3> kNames{"gelu_new", "gelu", "relu"};
  return base::enum_name<Activation::kRelu>(kNames, activation);
}

std::string_view to_string(RotaryKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"llama3", "linear", "dynamic", "yarn"};
  return base::enum_name<RotaryKind::kYarn>(kNames, kind);
}

// `tiny`: 9.0 MiB of gradients, so that bucket caps of 1, 4 and 25 MiB give different plans. The
// vocabulary of the first two is the byte tokenizer's, padded to a multiple of 64.
std::span<const ModelShape> model_presets() {
  static const std::vector<ModelShape> kPresets{
      gpt2_shape("tiny", 5, 192, 6, 320, 512),
      gpt2_shape("small", 8, 512, 8, 320, 1024),
      gpt2_shape("gpt2", 12, 768, 12, 50257, 1024),
      gpt2_shape("gpt2-medium", 24, 1024, 16, 50257, 1024),
      gpt2_shape("gpt2-large", 36, 1280, 20, 50257, 1024),
      gpt2_shape("gpt2-xl", 48, 1600, 25, 50257, 1024),
      benchmark_shape("gpt-162m", 12, 768, 12),
      benchmark_shape("gpt-1.4b", 24, 2048, 16),
      llama_1b_shape(),
  };
  return kPresets;
}

base::Result<ModelShape> find_model_preset(std::string_view name) {
  return find_in({model_presets()}, name);
}

// From the models' config.json: Llama-2-7b-hf, Llama-2-13b-hf, Meta-Llama-3-8B, Meta-Llama-3-70B,
// Mistral-7B-v0.1 and Qwen2-7B.
std::span<const ModelShape> planning_presets() {
  static const std::vector<ModelShape> kPlanningPresets{
      llama_shape("llama-7b", 32, 4096, 32, 32, 11008, 32000, 4096, 10000),
      llama_shape("llama-8b", 32, 4096, 32, 8, 14336, 128256, 8192, 500000),
      llama_shape("llama-13b", 40, 5120, 40, 40, 13824, 32000, 4096, 10000),
      llama_shape("llama-70b", 80, 8192, 64, 8, 28672, 128256, 8192, 500000),
      llama_shape("mistral-7b", 32, 4096, 32, 8, 14336, 32000, 32768, 10000),
      qwen2_7b_shape(),
  };
  return kPlanningPresets;
}

base::Result<ModelShape> find_planning_model(std::string_view name) {
  return find_in({model_presets(), planning_presets()}, name);
}

std::int64_t parameter_count(const ModelShape& shape) {
  // One block is as large as another.
  const std::int64_t outside = values_with_layers(shape, 0);
  return outside + shape.layers * (values_with_layers(shape, 1) - outside);
}

std::int64_t flops_per_token(const ModelShape& shape, std::int64_t sequence_length,
                             std::int64_t frozen_blocks) {
  ModelShape frozen = shape;
  frozen.layers = std::min(frozen_blocks, shape.layers);
  ModelShape no_block = shape;
  no_block.layers = 0;
  const std::int64_t frozen_values = parameter_count(frozen) - parameter_count(no_block);
  // N of 6·N are the weights that something is multiplied with.
  return 6 * (parameter_count(shape) - lookup_values(shape)) - 2 * frozen_values +
         12 * shape.layers * shape.attention_width() * sequence_length;
}

base::Result<void> check_sequence(const ModelShape& shape, std::int64_t sequence_length) {
  const std::int64_t longest = shape.longest_sequence();
  if (sequence_length <= longest) return {};
  return base::fail(base::ErrorKind::kUsage,
                    "sequence_length is " + std::to_string(sequence_length) + ", but model " +
                        shape.name + " has a context of " + std::to_string(longest) +
                        " tokens. Set sequence_length to at most " + std::to_string(longest) +
                        ", or choose another model.");
}

std::int64_t loss_chunk_tokens(const Settings& settings, const ModelShape& shape,
                               std::int64_t tokens) {
  std::int64_t chunk = settings.loss_chunk_tokens;
  if (chunk == kAuto) {
    if (4 * tokens * shape.vocabulary < kSmallLogitsBytes) return 0;
    const auto wide = static_cast<std::uint64_t>(std::max(kSmallestAutoChunk, 2 * shape.width));
    chunk = static_cast<std::int64_t>(std::bit_ceil(wide));
  }
  return std::min(chunk, tokens);
}

}  // namespace shardlens::trace::job
