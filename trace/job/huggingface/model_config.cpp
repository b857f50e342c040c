#include "trace/job/huggingface/model_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "trace/base/text.h"
#include "trace/job/huggingface/config_keys.h"
#include "trace/job/huggingface/family_config.h"

namespace shardlens::trace::job {

namespace {

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
  std::string list;
  for (const auto& parts : {problems.damaged, problems.unsupported}) {
    for (const std::string& part : parts) list += (list.empty() ? "" : "; ") + part;
  }
  const bool is_sound = problems.damaged.empty();
  return {is_sound ? base::ErrorKind::kUsage : base::ErrorKind::kDamaged,
          source + " cannot be used: " + list + "." + (is_sound ? " Choose another model." : "")};
}

}  // namespace

std::string supported_model_types() {
  return base::joined(kFamilies, ", ", [](const Family& family) {
    return std::string(family.title) + " (" + std::string(family.type) + ")";
  });
}

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
