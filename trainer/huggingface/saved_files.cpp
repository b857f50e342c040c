#include "trainer/huggingface/saved_files.h"

#include <nlohmann/json.hpp>

#include "trace/base/number_text.h"
#include "trace/job/huggingface/model_config.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trainer/huggingface/weight_files.h"

namespace shardlens::trainer::huggingface {

using nlohmann::ordered_json;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;
using trace::job::ModelLayout;
using trace::job::ModelShape;

namespace {

constexpr int kIndent = 2;

// "model-00001-of-00003.safetensors"
std::string file_name(std::size_t index, std::size_t count) {
  if (count == 1) return kWeightsFile;
  return trace::base::formatted("model-%05zu-of-%05zu.safetensors", index + 1, count);
}

std::string_view type_name(checkpoint::DataType type) {
  switch (type) {
    case checkpoint::DataType::kF16:
      return "float16";
    case checkpoint::DataType::kBF16:
      return "bfloat16";
    default:
      return "float32";
  }
}

// Of the families that presets belong to.
ordered_json preset_config(const ModelShape& s) {
  ordered_json json;
  if (s.layout == ModelLayout::kGpt2) {
    json = {
        {"model_type", "gpt2"},     {"vocab_size", s.vocabulary},
        {"n_positions", s.context}, {"n_embd", s.width},
        {"n_layer", s.layers},      {"n_head", s.heads},
        {"n_inner", s.mlp_width},   {"activation_function", trace::job::to_string(s.activation)},
        {"resid_pdrop", 0.0},       {"embd_pdrop", 0.0},
        {"attn_pdrop", 0.0},        {"layer_norm_epsilon", s.norm_epsilon},
        {"bos_token_id", nullptr},  {"eos_token_id", nullptr}};
  } else {
    json = {{"model_type", "llama"},
            {"vocab_size", s.vocabulary},
            {"hidden_size", s.width},
            {"intermediate_size", s.mlp_width},
            {"num_hidden_layers", s.layers},
            {"num_attention_heads", s.heads},
            {"num_key_value_heads", s.kv_heads},
            {"head_dim", s.head_width()},
            {"hidden_act", "silu"},
            {"max_position_embeddings", s.context},
            {"rms_norm_eps", s.norm_epsilon},
            {"rope_theta", s.rotary_base},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr}};
    if (s.rotary.factor > 0) {
      json["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", s.rotary.factor},
                              {"low_freq_factor", s.rotary.low_frequency_factor},
                              {"high_freq_factor", s.rotary.high_frequency_factor},
                              {"original_max_position_embeddings", s.rotary.original_context}};
    }
  }
  json["tie_word_embeddings"] = s.tied_head;
  return json;
}

void name_classes(ordered_json& json, const ModelShape& shape,
                  const std::vector<std::string>& labels) {
  const auto known = json.find("id2label");
  const bool fits = known != json.end() && static_cast<std::int64_t>(known->size()) == shape.labels;
  if (labels.empty() && fits) return;
  ordered_json names = ordered_json::object(), numbers = ordered_json::object();
  for (std::int64_t i = 0; i < shape.labels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string name = at < labels.size() ? labels[at] : "LABEL_" + std::to_string(i);
    names[std::to_string(i)] = name;
    numbers[name] = i;
  }
  json["id2label"] = names;
  json["label2id"] = numbers;
  json["problem_type"] = "single_label_classification";
  json.erase("num_labels");  // follows from the names
}

}  // namespace

SavedLayout layout_of(const trace::job::ModelShape& shape, checkpoint::DataType type,
                      std::int64_t file_bytes) {
  SavedLayout layout;
  layout.files.emplace_back();
  std::int64_t bytes = 0;
  for (trace::job::ParameterShape& parameter : trace::job::parameter_shapes(shape)) {
    const std::int64_t size = parameter.numel() * checkpoint::bytes_of(type);
    if (bytes > 0 && bytes + size > file_bytes) {
      layout.files.emplace_back();
      bytes = 0;
    }
    bytes += size;
    layout.values += parameter.numel();
    std::vector<checkpoint::TensorEntry>& tensors = layout.files.back().tensors;
    layout.places[parameter.name] = {layout.files.size() - 1, tensors.size()};
    tensors.push_back({std::move(parameter.name), type, std::move(parameter.sizes)});
  }
  for (std::size_t i = 0; i < layout.files.size(); ++i) {
    layout.files[i].name = file_name(i, layout.files.size());
    layout.files[i].metadata = saved_metadata();
    layout.files[i].encode();
  }
  return layout;
}

std::string SavedLayout::index() const {
  if (files.size() == 1) return "";
  ordered_json json;
  const std::int64_t width = checkpoint::bytes_of(files.front().tensors.front().type);
  json["metadata"] = {{"total_parameters", values}, {"total_size", values * width}};
  for (const auto& [name, place] : places) json["weight_map"][name] = files[place.file].name;
  return json.dump(kIndent) + "\n";
}

Result<std::string> saved_config(std::string_view original, const ModelShape& shape,
                                 checkpoint::DataType type,
                                 const std::vector<std::string>& labels) {
  ordered_json json =
      original.empty() ? preset_config(shape) : ordered_json::parse(original, nullptr, false);
  const auto model_type = json.is_object() ? json.find("model_type") : json.end();
  const std::string_view architecture =
      model_type != json.end() && model_type->is_string()
          ? trace::job::trained_architecture(model_type->get_ref<const std::string&>())
          : "";
  if (architecture.empty()) {
    return fail(ErrorKind::kDamaged, "the model's config.json has changed and cannot be read");
  }
  // Of a bare model or one for another task it was another one.
  json["architectures"] = {architecture};
  // transformers 4 reads the first, 5 either.
  const bool is_new = json.contains("dtype");
  if (!is_new || json.contains("torch_dtype")) json["torch_dtype"] = type_name(type);
  if (is_new) json["dtype"] = type_name(type);
  if (trace::job::is_encoder(shape.layout)) name_classes(json, shape, labels);
  return json.dump(kIndent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace shardlens::trainer::huggingface
