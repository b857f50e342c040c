#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "trace/job/huggingface/family_config.h"

namespace shardlens::trace::job {

namespace {

constexpr double kDefaultBase = 10000, kLargestBase = 1e12, kLargestFactor = 1e6;
constexpr std::int64_t kLongestContext = std::int64_t{1} << 40;
constexpr std::string_view kUnscaled = "default";
constexpr std::array<std::string_view, 5> kRotaryTypes{kUnscaled, "linear", "dynamic", "llama3",
                                                       "yarn"};

// YaRN's magnitude correction (Peng et al. 2023, section 3.4; `mscale` is DeepSeek's).
double magnitude(double factor, double scale = 1) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

void read_yarn(ConfigKeys& keys, RotaryScaling& rotary) {
  const auto or_if_zero = [](double value, double automatic) {
    return value == 0 ? automatic : value;
  };
  rotary.beta_fast = or_if_zero(keys.number("beta_fast", 0, kLargestFactor, 32), 32);
  rotary.beta_slow = or_if_zero(keys.number("beta_slow", 0, kLargestFactor, 1), 1);
  rotary.truncates = keys.flag("truncate", true);
  const double scale = keys.number("mscale", 0, kLargestFactor, 0);
  const double scale_all = keys.number("mscale_all_dim", 0, kLargestFactor, 0);
  const double automatic = scale > 0 && scale_all > 0 ? magnitude(rotary.factor, scale) /
                                                            magnitude(rotary.factor, scale_all)
                                                      : magnitude(rotary.factor);
  rotary.attention_factor = keys.number("attention_factor", 0, kLargestFactor, automatic);
}

void read_scaling(ConfigKeys& outer, ConfigKeys& keys, const std::string& type, ModelShape& shape) {
  RotaryScaling& rotary = shape.rotary;
  // Of YaRN alone the factor may follow from the contexts.
  const bool is_yarn = type == "yarn";
  const CountRange contexts{1, kLongestContext};
  rotary.original_context =
      outer.has("original_max_position_embeddings")
          ? outer.count("original_max_position_embeddings", contexts)
          : keys.count("original_max_position_embeddings", contexts, shape.context);
  const double ratio =
      static_cast<double>(shape.context) / static_cast<double>(rotary.original_context);
  rotary.factor =
      keys.number("factor", 1e-6, kLargestFactor, is_yarn ? std::optional(ratio) : std::nullopt);
  if (type == "llama3") {
    rotary.kind = RotaryKind::kLlama3;
    rotary.low_frequency_factor = keys.number("low_freq_factor", 1e-6, kLargestFactor);
    rotary.high_frequency_factor = keys.number("high_freq_factor", 1e-6, kLargestFactor);
  } else if (type == "linear") {
    rotary.kind = RotaryKind::kLinear;
  } else if (type == "dynamic") {
    rotary.kind = RotaryKind::kDynamic;
    rotary.original_context = shape.context;
  } else {
    rotary.kind = RotaryKind::kYarn;
    read_yarn(keys, rotary);
  }
}

// How a config.json tells rotary positions, in the spellings of transformers 4 (`rope_theta`,
// `rope_scaling`) and 5 (`rope_parameters`); shape.context must be known.
void read_rotary(ConfigKeys& keys, ModelShape& shape) {
  // As transformers: the old spelling wins where it says something.
  const nlohmann::json* old = keys.object("rope_scaling");
  const bool is_old = old != nullptr && !old->empty();
  ConfigKeys inner = keys.inside(is_old ? "rope_scaling" : "rope_parameters");
  shape.rotary = {};
  const double base = keys.number("rope_theta", 1, kLargestBase, kDefaultBase);
  shape.rotary_base = inner.number("rope_theta", 1, kLargestBase, base);
  for (ConfigKeys* each : {&keys, &inner}) {
    if (each->number("partial_rotary_factor", 0, 1, 1) != 1) {
      each->unsupported("partial_rotary_factor", "1 is");
    }
  }
  for (const char* layers : {"full_attention", "sliding_attention"}) inner.must_be_absent(layers);
  const char* type_key = inner.has("rope_type") || !inner.has("type") ? "rope_type" : "type";
  const std::string type = inner.choice(type_key, kUnscaled, kRotaryTypes);
  if (type != kUnscaled) read_scaling(keys, inner, type, shape);
}

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
