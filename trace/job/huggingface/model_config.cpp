#include "trace/job/huggingface/model_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "trace/base/text.h"
#include "trace/job/huggingface/config_keys.h"

namespace shardlens::trace::job {

namespace {

// Beyond all models that are known, and small enough that no product of them overflows.
constexpr CountRange kLayers{1, 4096}, kWidths{1, 1 << 18}, kHeads{1, 1 << 14};
constexpr CountRange kMlpWidths{1, 1 << 21}, kVocabularies{1, 1 << 26}, kHeadWidths{1, 1 << 14};
constexpr CountRange kContexts{1, std::int64_t{1} << 32}, kWindows{1, std::int64_t{1} << 40};
constexpr CountRange kTokenTypes{1, 1 << 16}, kLabels{2, 1 << 20};

// The first three are one function.
constexpr std::array<std::string_view, 5> kActivations{"gelu_new", "gelu_fast", "gelu_pytorch_tanh",
                                                       "gelu", "relu"};

// The text under `key`, as an activation of GPT-2 and of the encoders.
Activation read_activation(ConfigKeys& keys, std::string_view key, std::string_view automatic) {
  const std::string name = keys.choice(key, automatic, kActivations);
  if (name == "relu") return Activation::kRelu;
  return name == "gelu" ? Activation::kGelu : Activation::kGeluTanh;
}

// As torch.nn.Embedding: a negative one counts from the end of the vocabulary.
void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic = std::nullopt) {
  if (!keys.has("pad_token_id") && !automatic) return;
  const std::int64_t token =
      keys.count("pad_token_id", {-shape.vocabulary, shape.vocabulary - 1}, automatic);
  shape.padding_token = token < 0 ? shape.vocabulary + token : token;
}

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

void read_sizes(ConfigKeys& keys, ModelShape& shape) {
  shape.width = keys.count("hidden_size", kWidths);
  shape.layers = keys.count("num_hidden_layers", kLayers);
  shape.heads = shape.kv_heads = keys.count("num_attention_heads", kHeads);
  shape.mlp_width = keys.count("intermediate_size", kMlpWidths);
  shape.vocabulary = keys.count("vocab_size", kVocabularies);
  shape.context = keys.count("max_position_embeddings", kContexts);
}

void read_decoder_sizes(ConfigKeys& keys, ModelShape& shape) {
  shape.layout = ModelLayout::kLlama;
  read_sizes(keys, shape);
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

constexpr std::array<std::string_view, 1> kPositions{"absolute"};
constexpr std::array<std::string_view, 1> kTasks{"single_label_classification"};

std::int64_t label_count(ConfigKeys& keys) {
  constexpr std::int64_t kDefaultLabels = 2;
  const std::int64_t automatic = keys.count("num_labels", kLabels, kDefaultLabels);
  const nlohmann::json* names = keys.object("id2label");
  if (names == nullptr) return automatic;
  const auto count = static_cast<std::int64_t>(names->size());
  if (count < kLabels.least || count > kLabels.most) {
    keys.damaged("id2label",
                 "names " + std::to_string(count) + " classes; from 2 on they can be told apart");
  }
  return std::clamp(count, kLabels.least, kLabels.most);
}

void read_encoder(ConfigKeys& keys, ModelShape& shape) {
  read_sizes(keys, shape);
  shape.token_types = keys.count("type_vocab_size", kTokenTypes, 2);
  shape.norm_epsilon = keys.number("layer_norm_eps", 0, 1, 1e-12);
  shape.tied_head = false;
  shape.labels = label_count(keys);
  keys.must_be_off("is_decoder");
  keys.must_be_off("add_cross_attention");
  keys.choice("position_embedding_type", kPositions.front(), kPositions);
  keys.choice("problem_type", kTasks.front(), kTasks);
  shape.activation = read_activation(keys, "hidden_act", "gelu");
}

// How each family writes its config.json; each fills a shape that says nothing yet.

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

void read_bert(ConfigKeys& keys, ModelShape& shape) {
  shape.layout = ModelLayout::kBert;
  read_encoder(keys, shape);
  read_padding_token(keys, shape, 0);
}

void read_roberta(ConfigKeys& keys, ModelShape& shape) {
  shape.layout = ModelLayout::kRoberta;
  read_encoder(keys, shape);
  read_padding_token(keys, shape, 1);
  if (shape.longest_sequence() < 1) {
    keys.damaged("max_position_embeddings", "leaves no position after pad_token_id");
  }
}

struct Family {
  std::string_view type;
  std::string_view title;
  // Classes of transformers that have the weights that are needed; the first is what is trained.
  std::array<std::string_view, 5> architectures;
  void (*read)(ConfigKeys&, ModelShape&);
};

constexpr std::array<Family, 7> kFamilies{{
    {"gpt2", "GPT-2", {"GPT2LMHeadModel", "GPT2Model"}, read_gpt2},
    {"llama", "Llama", {"LlamaForCausalLM", "LlamaModel"}, read_llama},
    {"qwen2", "Qwen2", {"Qwen2ForCausalLM", "Qwen2Model"}, read_qwen2},
    {"qwen3", "Qwen3", {"Qwen3ForCausalLM", "Qwen3Model"}, read_qwen3},
    {"mistral", "Mistral", {"MistralForCausalLM", "MistralModel"}, read_mistral},
    {"bert",
     "BERT",
     {"BertForSequenceClassification", "BertForMaskedLM", "BertForPreTraining", "BertModel",
      "BertForNextSentencePrediction"},
     read_bert},
    {"roberta",
     "RoBERTa",
     {"RobertaForSequenceClassification", "RobertaForMaskedLM", "RobertaModel"},
     read_roberta},
}};

// "GPT-2 (gpt2), Llama (llama), …"
std::string supported_model_types() {
  return base::joined(kFamilies, ", ", [](const Family& family) {
    return std::string(family.title) + " (" + std::string(family.type) + ")";
  });
}

base::Result<const Family*> family_of(const nlohmann::json& config, const std::string& source) {
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) {
    return base::fail(base::ErrorKind::kDamaged,
                      source + " does not say a model_type. It is not the config.json of a model.");
  }
  const std::string name = type->get<std::string>();
  const auto family = std::ranges::find(kFamilies, name, &Family::type);
  if (family == kFamilies.end()) {
    return base::fail(base::ErrorKind::kUsage, source + ": model_type " + shown(*type) +
                                                   " is not supported. Supported are " +
                                                   supported_model_types() + ".");
  }
  const auto architectures = config.find("architectures");
  if (architectures == config.end() || !architectures->is_array() || architectures->empty() ||
      !architectures->front().is_string()) {
    return &*family;
  }
  const std::string architecture = architectures->front().get<std::string>();
  if (std::ranges::find(family->architectures, architecture) != family->architectures.end())
    return &*family;
  std::string known;
  for (const std::string_view each : family->architectures) {
    if (!each.empty()) known += (known.empty() ? "" : ", ") + std::string(each);
  }
  return base::fail(base::ErrorKind::kUsage,
                    source + ": architecture " + shown(architectures->front()) +
                        " is not supported. Of " + std::string(family->title) + " supported are " +
                        known + ".");
}

// What holds whatever the family.
void check_shape(ConfigKeys& keys, const ModelShape& shape, ConfigProblems& problems) {
  for (const char* key : {"quantization_config", "attn_logit_softcapping",
                          "final_logit_softcapping", "num_experts", "num_local_experts"}) {
    keys.must_be_absent(key);
  }
  const std::string heads = std::to_string(shape.heads);
  if (shape.head_size == 0 && shape.width % shape.heads != 0) {
    problems.damaged.push_back("a width of " + std::to_string(shape.width) +
                               " is not divisible by " + heads + " heads");
  }
  if (shape.heads % shape.kv_heads != 0) {
    problems.damaged.push_back(heads + " heads are not divisible by " +
                               std::to_string(shape.kv_heads) + " heads of keys and values");
  }
  if (shape.attention_width() > 4 * kWidths.most) {
    problems.damaged.push_back("head_dim makes attention absurdly wide");
  }
  if (shape.layout == ModelLayout::kLlama && shape.head_width() % 2 != 0) {
    problems.damaged.push_back("a head's width of " + std::to_string(shape.head_width()) +
                               " is odd, which rotary positions cannot be");
  }
}

base::Error error_of(const ConfigProblems& problems, const std::string& source) {
  std::vector<std::string> parts = problems.damaged;
  parts.insert(parts.end(), problems.unsupported.begin(), problems.unsupported.end());
  const bool is_sound = problems.damaged.empty();
  return {is_sound ? base::ErrorKind::kUsage : base::ErrorKind::kDamaged,
          source + " cannot be used: " + base::joined(parts, "; ") + "." +
              (is_sound ? " Choose another model." : "")};
}

}  // namespace

std::string_view trained_architecture(std::string_view model_type) {
  const auto family = std::ranges::find(kFamilies, model_type, &Family::type);
  return family == kFamilies.end() ? "" : family->architectures.front();
}

base::Result<ModelShape> shape_from_config(std::string_view json, const std::string& source) {
  const auto config = parse_config(json);
  if (!config.is_object()) {
    return base::fail(
        base::ErrorKind::kDamaged,
        source + " is not a JSON object, or is nested too deeply. Download the folder again.");
  }
  TRY_ASSIGN(const Family* family, family_of(config, source));
  ConfigProblems problems;
  ConfigKeys keys(config, problems);
  ModelShape shape;
  family->read(keys, shape);
  check_shape(keys, shape, problems);
  if (!problems.empty()) return tl::make_unexpected(error_of(problems, source));
  return shape;
}

}  // namespace shardlens::trace::job
