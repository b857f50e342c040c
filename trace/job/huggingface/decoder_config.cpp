#include <algorithm>
#include <array>
#include <string_view>

#include "trace/job/huggingface/family_config.h"
#include "trace/job/huggingface/rotary_config.h"

namespace shardlens::trace::job {

namespace {

constexpr std::array<std::string_view, 2> kSilu{"silu", "swish"};  // one function's names

void read_decoder_sizes(ConfigKeys& keys, ModelShape& shape) {
  shape.layout = ModelLayout::kLlama;
  shape.width = keys.count("hidden_size", kWidths);
  shape.layers = keys.count("num_hidden_layers", kLayers);
  shape.heads = keys.count("num_attention_heads", kHeads);
  shape.mlp_width = keys.count("intermediate_size", kMlpWidths);
  shape.vocabulary = keys.count("vocab_size", kVocabularies);
  shape.context = keys.count("max_position_embeddings", kContexts);
  shape.kv_heads = keys.count("num_key_value_heads", kHeads, shape.heads);
  if (keys.has("head_dim")) shape.head_size = keys.count("head_dim", kHeadWidths);
  shape.norm_epsilon = keys.number("rms_norm_eps", 0, 1, 1e-6);
  shape.tied_head = keys.flag("tie_word_embeddings", false);
  keys.choice("hidden_act", kSilu.front(), kSilu);
  read_padding_token(keys, shape);
  read_rotary(keys, shape);
}

// Which layers see a window: those from max_window_layers on, or those that layer_types names.
void read_windows(ConfigKeys& keys, ModelShape& shape) {
  constexpr std::string_view kKey = "layer_types";
  if (!keys.flag("use_sliding_window", false) || !keys.has("sliding_window")) return;
  shape.window = keys.count("sliding_window", kWindows);
  shape.full_layers = keys.count("max_window_layers", {0, kLayers.most * 16}, 28);
  const nlohmann::json* types = keys.find(kKey);
  if (types == nullptr) return;
  const auto is_text = [](const nlohmann::json& each) { return each.is_string(); };
  if (!types->is_array() || std::ssize(*types) != shape.layers ||
      !std::ranges::all_of(*types, is_text)) {
    return keys.damaged(kKey, "is not a list of a text for each layer");
  }
  const auto first =
      std::ranges::find_if(*types, [](const auto& each) { return each == "sliding_attention"; });
  shape.full_layers = first - types->begin();
  const bool known = std::all_of(types->begin(), first,
                                 [](const auto& each) { return each == "full_attention"; }) &&
                     std::all_of(first, types->end(),
                                 [](const auto& each) { return each == "sliding_attention"; });
  if (!known) {
    keys.unsupported(kKey, "full_attention layers followed by sliding_attention layers are");
  }
}

}  // namespace

void read_gpt2(ConfigKeys& keys, ModelShape& shape) {
  shape.layout = ModelLayout::kGpt2;
  // transformers writes the first of each pair and takes either.
  const auto count = [&](const char* name, const char* alias, CountRange range) {
    return keys.count(keys.has(alias) && !keys.has(name) ? alias : name, range);
  };
  shape.width = count("n_embd", "hidden_size", kWidths);
  shape.layers = count("n_layer", "num_hidden_layers", kLayers);
  shape.heads = count("n_head", "num_attention_heads", kHeads);
  shape.context = count("n_positions", "max_position_embeddings", kContexts);
  shape.vocabulary = keys.count("vocab_size", kVocabularies);
  shape.kv_heads = shape.heads;
  shape.mlp_width = keys.count("n_inner", kMlpWidths, 4 * shape.width);
  shape.norm_epsilon = keys.number("layer_norm_epsilon", 0, 1, 1e-5);
  shape.tied_head = keys.flag("tie_word_embeddings", true);
  shape.scales_attention = keys.flag("scale_attn_weights", true);
  shape.scales_attention_by_layer = keys.flag("scale_attn_by_inverse_layer_idx", false);
  keys.must_be_off("add_cross_attention");
  shape.activation = read_activation(keys, "activation_function", "gelu_new");
}

void read_llama(ConfigKeys& keys, ModelShape& shape) {
  read_decoder_sizes(keys, shape);
  shape.qkv_bias = shape.output_bias = keys.flag("attention_bias", false);
  shape.mlp_bias = keys.flag("mlp_bias", false);
}

void read_mistral(ConfigKeys& keys, ModelShape& shape) {
  read_decoder_sizes(keys, shape);
  if (keys.has("sliding_window")) shape.window = keys.count("sliding_window", kWindows);
}

void read_qwen2(ConfigKeys& keys, ModelShape& shape) {
  read_decoder_sizes(keys, shape);
  shape.qkv_bias = true;
  read_windows(keys, shape);
}

void read_qwen3(ConfigKeys& keys, ModelShape& shape) {
  constexpr std::int64_t kDefaultHeadWidth = 128;
  read_decoder_sizes(keys, shape);
  if (shape.head_size == 0) shape.head_size = kDefaultHeadWidth;
  shape.qkv_bias = shape.output_bias = keys.flag("attention_bias", false);
  shape.qk_norm = true;
  read_windows(keys, shape);
}

}  // namespace shardlens::trace::job
