#include "trace/model/model_shape.h"

#include <array>
#include <string>

namespace shardlens::trace {

namespace {

constexpr ModelShape gpt2_shape(std::string_view name, std::int64_t layers, std::int64_t width,
                                std::int64_t heads, std::int64_t vocabulary, std::int64_t context) {
  ModelShape shape;
  shape.name = name;
  shape.layers = layers;
  shape.width = width;
  shape.heads = heads;
  shape.kv_heads = heads;
  shape.mlp_width = 4 * width;
  shape.vocabulary = vocabulary;
  shape.context = context;
  return shape;
}

// Llama 3.2 1B, from its config.json.
constexpr ModelShape llama_1b_shape() {
  ModelShape shape;
  shape.name = "llama-1b";
  shape.layout = ModelLayout::kLlama;
  shape.layers = 16;
  shape.width = 2048;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.mlp_width = 8192;
  shape.vocabulary = 128256;
  shape.context = 131072;
  shape.rotary_base = 500000;
  shape.rotary.factor = 32;
  return shape;
}

// `tiny`: 9.0 MiB of gradients, so that bucket caps of 1, 4 and 25 MiB give different plans. The
// vocabulary of the first two is the byte tokenizer's, padded to a multiple of 64.
constexpr std::array kPresets{
    gpt2_shape("tiny", 5, 192, 6, 320, 512),
    gpt2_shape("small", 8, 512, 8, 320, 1024),
    gpt2_shape("gpt2", 12, 768, 12, 50257, 1024),
    gpt2_shape("gpt2-medium", 24, 1024, 16, 50257, 1024),
    gpt2_shape("gpt2-large", 36, 1280, 20, 50257, 1024),
    gpt2_shape("gpt2-xl", 48, 1600, 25, 50257, 1024),
    llama_1b_shape(),
};

std::int64_t gpt2_parameters(const ModelShape& s) {
  const std::int64_t norms = 2 * 2 * s.width;
  const std::int64_t attention = s.width * 3 * s.width + 3 * s.width + s.width * s.width + s.width;
  const std::int64_t mlp = s.width * s.mlp_width + s.mlp_width + s.mlp_width * s.width + s.width;
  return (s.vocabulary + s.context) * s.width + s.layers * (norms + attention + mlp) + 2 * s.width;
}

std::int64_t llama_parameters(const ModelShape& s) {
  const std::int64_t norms = 2 * s.width;
  const std::int64_t kv_width = s.kv_heads * s.head_width();
  const std::int64_t attention = 2 * s.width * s.width + 2 * s.width * kv_width;
  const std::int64_t mlp = 3 * s.width * s.mlp_width;
  const std::int64_t embeddings = (s.tied_head ? 1 : 2) * s.vocabulary * s.width;
  return embeddings + s.layers * (norms + attention + mlp) + s.width;
}

}  // namespace

std::string_view to_string(ModelLayout layout) {
  switch (layout) {
    case ModelLayout::kGpt2:
      return "GPT-2";
    case ModelLayout::kLlama:
      return "Llama";
  }
  return "";
}

std::span<const ModelShape> model_presets() { return kPresets; }

Result<ModelShape> find_model_preset(std::string_view name) {
  std::string names;
  for (const ModelShape& shape : kPresets) {
    if (shape.name == name) return shape;
    names += (names.empty() ? "" : ", ") + std::string(shape.name);
  }
  return fail(ErrorKind::kUsage,
              "There is no model \"" + std::string(name) + "\". Choose one of " + names + ".");
}

std::int64_t parameter_count(const ModelShape& shape) {
  return shape.layout == ModelLayout::kGpt2 ? gpt2_parameters(shape) : llama_parameters(shape);
}

std::int64_t flops_per_token(const ModelShape& shape, std::int64_t sequence_length) {
  return 6 * parameter_count(shape) + 12 * shape.layers * shape.width * sequence_length;
}

}  // namespace shardlens::trace
