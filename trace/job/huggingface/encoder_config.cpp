#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "trace/job/huggingface/family_config.h"

namespace shardlens::trace::job {

namespace {

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
  keys.choice("position_embedding_type", kPositions.front(), kPositions);
  keys.choice("problem_type", kTasks.front(), kTasks);
  shape.activation = read_activation(keys, "hidden_act", "gelu");
}

}  // namespace

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

}  // namespace shardlens::trace::job
