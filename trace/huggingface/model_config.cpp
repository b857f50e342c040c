#include "trace/huggingface/model_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "trace/huggingface/config_keys.h"
#include "trace/huggingface/rotary_config.h"

namespace shardlens::trace {

namespace {

// Beyond all models that are known, and small enough that no product of them overflows.
constexpr CountRange kLayers{1, 4096}, kWidths{1, 1 << 18}, kHeads{1, 1 << 14};
constexpr CountRange kMlpWidths{1, 1 << 21}, kVocabularies{1, 1 << 26}, kHeadWidths{1, 1 << 14};
constexpr CountRange kContexts{1, std::int64_t{1} << 32}, kWindows{1, std::int64_t{1} << 40};
constexpr CountRange kTokenTypes{1, 1 << 16}, kLabels{2, 1 << 20};

struct Reading {
  ConfigKeys keys;
  std::vector<std::string>& problems;
};

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

// As torch.nn.Embedding: a negative one counts from the end of the vocabulary.
void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic = std::nullopt) {
  if (!keys.has("pad_token_id") && !automatic) return;
  const std::int64_t token =
      keys.count("pad_token_id", {-shape.vocabulary, shape.vocabulary - 1}, automatic);
  shape.padding_token = token < 0 ? shape.vocabulary + token : token;
}

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

std::int64_t label_count(ConfigKeys& keys) {
  constexpr std::int64_t kDefaultLabels = 2;
  const std::int64_t automatic = keys.count("num_labels", kLabels, kDefaultLabels);
  const nlohmann::json* names = keys.object("id2label");
  if (names == nullptr) return automatic;
  const auto count = static_cast<std::int64_t>(names->size());
  if (count < kLabels.least || count > kLabels.most) {
    keys.problem("id2label",
                 "names " + std::to_string(count) + " classes; from 2 on they can be told apart");
  }
  return std::clamp(count, kLabels.least, kLabels.most);
}

void read_encoder(Reading& reading, ModelShape& shape) {
  ConfigKeys& keys = reading.keys;
  shape.width = keys.count("hidden_size", kWidths);
  shape.layers = keys.count("num_hidden_layers", kLayers);
  shape.heads = shape.kv_heads = keys.count("num_attention_heads", kHeads);
  shape.mlp_width = keys.count("intermediate_size", kMlpWidths);
  shape.vocabulary = keys.count("vocab_size", kVocabularies);
  shape.context = keys.count("max_position_embeddings", kContexts);
  shape.token_types = keys.count("type_vocab_size", kTokenTypes, 2);
  shape.norm_epsilon = keys.number("layer_norm_eps", 0, 1, 1e-12);
  shape.tied_head = false;
  shape.labels = label_count(keys);
  keys.must_be_off("is_decoder");
  keys.must_be_off("add_cross_attention");
  const std::string positions = keys.text("position_embedding_type", "absolute");
  if (positions != "absolute") {
    keys.problem("position_embedding_type",
                 "\"" + positions.substr(0, 40) + "\" is not implemented (absolute is)");
  }
  const std::string task = keys.text("problem_type", "single_label_classification");
  if (task != "single_label_classification") {
    keys.problem("problem_type", "\"" + task.substr(0, 40) +
                                     "\" is not implemented (single_label_classification is)");
  }
  const std::string activation = keys.text("hidden_act", "gelu");
  shape.activation = activation == "relu"   ? Activation::kRelu
                     : activation == "gelu" ? Activation::kGelu
                                            : Activation::kGeluTanh;
  if (activation != "gelu" && activation != "relu" && activation != "gelu_new") {
    keys.problem("hidden_act", "\"" + activation.substr(0, 40) +
                                   "\" is not implemented (gelu, gelu_new and relu are)");
  }
}

void read_bert(Reading& reading, ModelShape& shape) {
  shape.layout = ModelLayout::kBert;
  read_encoder(reading, shape);
  read_padding_token(reading.keys, shape, 0);
}

void read_roberta(Reading& reading, ModelShape& shape) {
  shape.layout = ModelLayout::kRoberta;
  read_encoder(reading, shape);
  read_padding_token(reading.keys, shape, 1);
  if (shape.longest_sequence() < 1) {
    reading.keys.problem("max_position_embeddings", "leaves no position after pad_token_id");
  }
}

struct Family {
  std::string_view type;
  std::string_view title;
  // Beginnings of the names in `architectures` that have the weights that are needed.
  std::array<std::string_view, 5> architectures;
  void (*read)(Reading&, ModelShape&);
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

std::string joined(std::span<const std::string> parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(between)) + part;
  return text;
}

Result<const Family*> family_of(const nlohmann::json& config, const std::string& source) {
  const auto type = config.find("model_type");
  if (type == config.end() || !type->is_string()) {
    return fail(ErrorKind::kDamaged,
                source + " does not say a model_type. It is not the config.json of a model.");
  }
  const std::string name = type->get<std::string>();
  const auto family = std::ranges::find(kFamilies, name, &Family::type);
  if (family == kFamilies.end()) {
    return fail(ErrorKind::kUsage, source + ": model_type \"" + name.substr(0, 60) +
                                       "\" is not supported. Supported are " +
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
  return fail(ErrorKind::kUsage, source + ": architecture \"" + architecture.substr(0, 60) +
                                     "\" is not supported. Of " + std::string(family->title) +
                                     " supported are " + known + ".");
}

// What holds whatever the family.
void check_shape(Reading& reading, const ModelShape& shape) {
  ConfigKeys& keys = reading.keys;
  for (const char* key : {"quantization_config", "attn_logit_softcapping",
                          "final_logit_softcapping", "num_experts", "num_local_experts"}) {
    keys.must_be_absent(key);
  }
  const std::string heads = std::to_string(shape.heads);
  if (shape.head_size == 0 && shape.width % shape.heads != 0) {
    reading.problems.push_back("a width of " + std::to_string(shape.width) +
                               " is not divisible by " + heads + " heads");
  }
  if (shape.heads % shape.kv_heads != 0) {
    reading.problems.push_back(heads + " heads are not divisible by " +
                               std::to_string(shape.kv_heads) + " heads of keys and values");
  }
  if (shape.attention_width() > 4 * kWidths.most) {
    reading.problems.push_back("head_dim makes attention absurdly wide");
  }
  if (shape.layout == ModelLayout::kLlama && shape.head_width() % 2 != 0) {
    reading.problems.push_back("a head's width of " + std::to_string(shape.head_width()) +
                               " is odd, which rotary positions cannot be");
  }
}

}  // namespace

std::string supported_model_types() {
  std::string text;
  for (const Family& family : kFamilies) {
    text += (text.empty() ? "" : ", ") + std::string(family.title) + " (" +
            std::string(family.type) + ")";
  }
  return text;
}

Result<ModelShape> shape_from_config(std::string_view json, const std::string& source) {
  const auto config = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) {
    return fail(ErrorKind::kDamaged, source + " is not a JSON object. Download the folder again.");
  }
  TRY_ASSIGN(const Family* family, family_of(config, source));
  std::vector<std::string> problems;
  Reading reading{ConfigKeys(config, problems), problems};
  ModelShape shape;
  family->read(reading, shape);
  check_shape(reading, shape);
  if (problems.empty()) return shape;
  const bool is_unsupported = std::ranges::all_of(problems, [](const std::string& problem) {
    return problem.find("not implemented") != std::string::npos;
  });
  return fail(is_unsupported ? ErrorKind::kUsage : ErrorKind::kDamaged,
              source + " cannot be used: " + joined(problems, "; ") + "." +
                  (is_unsupported ? " Choose another model." : ""));
}

}  // namespace shardlens::trace
