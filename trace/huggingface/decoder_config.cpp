#include <algorithm>
#include <string>
#include <string_view>

#include "trace/huggingface/family_config.h"
#include "trace/huggingface/rotary_config.h"

namespace shardlens::trace {

namespace {

void read_decoder_sizes(Reading& reading, ModelShape& shape) {
  ConfigKeys& keys = reading.keys;
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
  const std::string activation = keys.text("hidden_act", "silu");
  if (activation != "silu" && activation != "swish") {
    keys.problem("hidden_act", "\"" + activation.substr(0, 40) + "\" is not implemented (silu is)");
  }
  read_padding_token(keys, shape);
  read_rotary(keys, reading.problems, shape);
}

// Which layers see a window: those from max_window_layers on, or those that layer_types names.
void read_windows(Reading& reading, ModelShape& shape) {
  constexpr std::string_view kKey = "layer_types";
  ConfigKeys& keys = reading.keys;
  if (!keys.flag("use_sliding_window", false) || !keys.has("sliding_window")) return;
  shape.window = keys.count("sliding_window", kWindows);
  shape.full_layers = keys.count("max_window_layers", {0, kLayers.most * 16}, 28);
  const nlohmann::json* types = keys.find(kKey);
  if (types == nullptr) return;
  const auto is_text = [](const nlohmann::json& each) { return each.is_string(); };
  if (!types->is_array() || std::ssize(*types) != shape.layers ||
      !std::ranges::all_of(*types, is_text)) {
    return keys.problem(kKey, "is not a list of a text for each layer");
  }
  const auto first =
      std::ranges::find_if(*types, [](const auto& each) { return each == "sliding_attention"; });
  shape.full_layers = first - types->begin();
  const bool known = std::all_of(types->begin(), first,
                                 [](const auto& each) { return each == "full_attention"; }) &&
                     std::all_of(first, types->end(),
                                 [](const auto& each) { return each == "sliding_attention"; });
  if (!known) {
    keys.problem(kKey,
                 "is not implemented but for full_attention in the first layers and "
                 "sliding_attention in the others");
  }
}

}  // namespace

void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic) {
  if (!keys.has("pad_token_id") && !automatic) return;
  const std::int64_t token =
      keys.count("pad_token_id", {-shape.vocabulary, shape.vocabulary - 1}, automatic);
  shape.padding_token = token < 0 ? shape.vocabulary + token : token;
}

void read_gpt2(Reading& reading, ModelShape& shape) {
  ConfigKeys& keys = reading.keys;
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
  const std::string activation = keys.text("activation_function", "gelu_new");
  if (activation == "gelu_new" || activation == "gelu_pytorch_tanh") {
    shape.activation = Activation::kGeluTanh;
  } else if (activation == "gelu") {
    shape.activation = Activation::kGelu;
  } else if (activation == "relu") {
    shape.activation = Activation::kRelu;
  } else {
    keys.problem("activation_function", "\"" + activation.substr(0, 40) +
                                            "\" is not implemented (gelu_new, gelu and relu are)");
  }
}

void read_llama(Reading& reading, ModelShape& shape) {
  read_decoder_sizes(reading, shape);
  shape.qkv_bias = shape.output_bias = reading.keys.flag("attention_bias", false);
  shape.mlp_bias = reading.keys.flag("mlp_bias", false);
}

void read_mistral(Reading& reading, ModelShape& shape) {
  read_decoder_sizes(reading, shape);
  ConfigKeys& keys = reading.keys;
  if (keys.has("sliding_window")) shape.window = keys.count("sliding_window", kWindows);
}

void read_qwen2(Reading& reading, ModelShape& shape) {
  read_decoder_sizes(reading, shape);
  shape.qkv_bias = true;
  read_windows(reading, shape);
}

void read_qwen3(Reading& reading, ModelShape& shape) {
  constexpr std::int64_t kDefaultHeadWidth = 128;
  read_decoder_sizes(reading, shape);
  if (shape.head_size == 0) shape.head_size = kDefaultHeadWidth;
  shape.qkv_bias = shape.output_bias = reading.keys.flag("attention_bias", false);
  shape.qk_norm = true;
  read_windows(reading, shape);
}

}  // namespace shardlens::trace
