#include "tests/trainer/combinations/small_models.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "trace/job/huggingface/find_model.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/huggingface/weight_files.h"
#include "trainer/model/build_model.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer {

namespace {

// Of the second and third number of smallest_units(). Blocks whose MLP has adapters are no nests:
// their MLP is a unit, too.
constexpr std::int64_t kNestingUnit = 1670;
constexpr std::uint64_t kFolderSeed = 9;

// With 3 and 4 ranks some units need padding.
const std::map<std::string, std::string>& configs() {
  static const std::map<std::string, std::string> kConfigs{
      {"folders/gpt2", R"({"model_type": "gpt2", "vocab_size": 61, "n_embd": 20, "n_layer": 3,
                           "n_head": 2, "n_inner": 40, "n_positions": 16})"},
      {"folders/llama", R"({"model_type": "llama", "vocab_size": 61, "hidden_size": 24,
                            "intermediate_size": 23, "num_hidden_layers": 3,
                            "num_attention_heads": 2, "num_key_value_heads": 1,
                            "max_position_embeddings": 16, "tie_word_embeddings": false})"},
      {"folders/bert", R"({"model_type": "bert", "vocab_size": 61, "hidden_size": 20,
                           "intermediate_size": 40, "num_hidden_layers": 3,
                           "num_attention_heads": 2, "max_position_embeddings": 16,
                           "num_labels": 3})"},
      {"folders/roberta", R"({"model_type": "roberta", "vocab_size": 61, "hidden_size": 20,
                              "intermediate_size": 40, "num_hidden_layers": 3,
                              "num_attention_heads": 2, "max_position_embeddings": 18,
                              "type_vocab_size": 1, "pad_token_id": 1, "num_labels": 3})"},
  };
  return kConfigs;
}

model::ModelShape small_shape_of(const std::string& preset) {
  model::ModelShape shape = *trace::job::find_model_preset(preset);
  const bool is_gpt2 = shape.layout == model::ModelLayout::kGpt2;
  shape.layers = 3;
  shape.width = is_gpt2 ? 20 : 24;
  shape.heads = 2;
  shape.kv_heads = is_gpt2 ? 2 : 1;
  shape.mlp_width = is_gpt2 ? 40 : 23;
  shape.vocabulary = kSmallVocabulary;
  shape.context = 16;
  shape.tied_head = is_gpt2;
  return shape;
}

void write_values(const std::filesystem::path& folder) {
  const auto shape = trace::job::find_model(folder);
  ASSERT_TRUE(shape) << shape.error().message;
  const auto model = model::build_any_model(*shape, {0.0, kFolderSeed, torch::kCPU});
  const torch::NoGradGuard no_grad;
  torch::manual_seed(kFolderSeed);
  // Biases of 0 and scales of 1 would hide where they are applied, and initial values of a head
  // let adapters learn too little to compare.
  for (const torch::Tensor& each : model->parameters()) each.add_(0.2 * torch::randn_like(each));
  std::vector<checkpoint::TensorBytes> tensors;
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(*model)) {
    const auto* values = static_cast<const std::byte*>(each.tensor.const_data_ptr());
    tensors.push_back({{each.name, checkpoint::DataType::kF32, each.tensor.sizes().vec()},
                       {values, static_cast<std::size_t>(each.tensor.nbytes())}});
  }
  const auto written =
      checkpoint::write_safetensors(folder / huggingface::kWeightsFile, tensors, {});
  ASSERT_TRUE(written) << written.error().message;
}

}  // namespace

SmallModels::SmallModels() {
  for (const auto& [name, config] : configs()) {
    const std::filesystem::path folder = folder_.path() / name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / trace::job::kConfigFile) << config;
    write_values(folder);
  }
}

SmallModel SmallModels::find(const std::string& model) const {
  if (!configs().contains(model)) return {small_shape_of(model), {}};
  const std::filesystem::path folder = folder_.path() / model;
  return {*trace::job::find_model(folder), folder};
}

std::vector<std::string> SmallModels::names() {
  std::vector<std::string> names{"tiny", "llama-1b"};
  for (const auto& [name, config] : configs()) names.push_back(name);
  return names;
}

std::vector<std::int64_t> smallest_units() { return {1, kNestingUnit, kNestingUnit + 5}; }

}  // namespace shardlens::trainer
