#include <algorithm>
#include <string>

#include "trace/huggingface/family_config.h"

namespace shardlens::trace {

namespace {

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

}  // namespace

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

}  // namespace shardlens::trace
