#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "trace/job/shape/parameter_shapes.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"

namespace shardlens::trainer {
namespace {

model::ModelShape small_shape(model::ModelLayout layout, bool tied) {
  model::ModelShape shape;
  shape.name = "small";
  shape.layout = layout;
  shape.layers = 3;
  shape.width = 24;
  shape.heads = 4;
  shape.kv_heads = layout == model::ModelLayout::kGpt2 ? 4 : 2;
  shape.mlp_width = 40;
  shape.vocabulary = 300;
  shape.context = 20;
  shape.tied_head = tied;
  return shape;
}

std::int64_t allocated_parameters(const model::ModelShape& shape) {
  std::int64_t sum = 0;
  for (const auto& parameter : tensor::named_parameters_of(*model::build_model(shape, {}))) {
    sum += parameter.tensor.numel();
  }
  return sum;
}

TEST(ModelShape, CountsParametersAsTheModuleAllocatesThem) {
  for (const model::ModelShape& shape :
       {small_shape(model::ModelLayout::kGpt2, true), small_shape(model::ModelLayout::kGpt2, false),
        small_shape(model::ModelLayout::kLlama, true),
        small_shape(model::ModelLayout::kLlama, false), *model::find_model_preset("tiny")}) {
    EXPECT_EQ(trace::job::parameter_count(shape), allocated_parameters(shape)) << shape.name;
  }
}

TEST(ParameterShapes, AreThoseOfTheModuleInRegistrationOrder) {
  for (const model::ModelShape& shape :
       {small_shape(model::ModelLayout::kGpt2, true), small_shape(model::ModelLayout::kGpt2, false),
        small_shape(model::ModelLayout::kLlama, true),
        small_shape(model::ModelLayout::kLlama, false)}) {
    const auto model = model::build_model(shape, {});
    const auto expected = tensor::named_parameters_of(*model);
    const auto listed = trace::job::parameter_shapes(shape);
    ASSERT_EQ(listed.size(), expected.size()) << trace::job::to_string(shape.layout);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(listed[i].name, expected[i].name);
      EXPECT_EQ(listed[i].sizes, expected[i].tensor.sizes().vec()) << listed[i].name;
    }
    const auto blocks = model->blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto in_block =
          std::ranges::count(listed, static_cast<int>(b), &trace::job::ParameterShape::block);
      EXPECT_EQ(static_cast<std::size_t>(in_block), blocks[b]->parameters().size());
    }
  }
}

TEST(ModelShape, TinyHasGradientsThatCapsOf1And4And25SplitDifferently) {
  const auto bytes = 4 * trace::job::parameter_count(*model::find_model_preset("tiny"));
  EXPECT_GE(bytes, 8 << 20);
  EXPECT_LE(bytes, 16 << 20);
}

TEST(DecoderModel, HasHuggingFacesNamesAndShapes) {
  const auto find = [](const model::ModelShape& shape,
                       const std::string& name) -> std::vector<int64_t> {
    for (const auto& parameter : tensor::named_parameters_of(*model::build_model(shape, {}))) {
      if (parameter.name == name) return parameter.tensor.sizes().vec();
    }
    return {};
  };
  using Sizes = std::vector<int64_t>;
  const auto gpt2 = small_shape(model::ModelLayout::kGpt2, true);
  EXPECT_EQ(find(gpt2, "transformer.wte.weight"), (Sizes{300, 24}));
  EXPECT_EQ(find(gpt2, "transformer.h.2.attn.c_attn.weight"), (Sizes{24, 72}));
  EXPECT_EQ(find(gpt2, "transformer.h.0.mlp.c_proj.bias"), (Sizes{24}));
  EXPECT_EQ(find(gpt2, "lm_head.weight"), Sizes{}) << "tied, so known as wte alone";
  const auto llama = small_shape(model::ModelLayout::kLlama, false);
  EXPECT_EQ(find(llama, "model.layers.0.self_attn.k_proj.weight"), (Sizes{12, 24}));
  EXPECT_EQ(find(llama, "model.layers.2.mlp.down_proj.weight"), (Sizes{24, 40}));
  EXPECT_EQ(find(llama, "lm_head.weight"), (Sizes{300, 24}));
}

TEST(DecoderModel, IsInitialisedEquallyForTheSameSeedOnly) {
  const auto shape = small_shape(model::ModelLayout::kGpt2, true);
  const auto first = tensor::named_parameters_of(*model::build_model(shape, {0, 1, torch::kCPU}));
  torch::manual_seed(99);  // the global generator must not matter
  const auto second = tensor::named_parameters_of(*model::build_model(shape, {0, 1, torch::kCPU}));
  const auto other = tensor::named_parameters_of(*model::build_model(shape, {0, 2, torch::kCPU}));
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(torch::equal(first[i].tensor, second[i].tensor)) << first[i].name;
  }
  EXPECT_FALSE(torch::equal(first[0].tensor, other[0].tensor));
}

TEST(DecoderModel, ScalesResidualProjectionsOfGpt2ByTheNumberOfLayers) {
  const auto model = model::build_model(*model::find_model_preset("tiny"), {});
  const auto parameters = model->named_parameters();
  const double plain = parameters["transformer.h.0.mlp.c_fc.weight"].std().item<double>();
  const double residual = parameters["transformer.h.0.mlp.c_proj.weight"].std().item<double>();
  EXPECT_NEAR(plain, 0.02, 2e-4);
  EXPECT_NEAR(residual, 0.02 / std::sqrt(10.0), 1e-4);
}

TEST(DecoderModel, StartsNearTheLossOfGuessing) {
  torch::manual_seed(0);
  const auto model = model::build_model(*model::find_model_preset("tiny"), {});
  const auto tokens = torch::randint(0, 257, {2, 33}, torch::kLong);
  const auto loss = model->loss(tokens.narrow(1, 0, 32), tokens.narrow(1, 1, 32));
  EXPECT_NEAR(loss.item<double>(), std::log(320.0), 0.2);
}

TEST(DecoderModel, DropsOutOnlyWhileTraining) {
  const auto model =
      model::build_model(small_shape(model::ModelLayout::kGpt2, true), {0.5, 0, torch::kCPU});
  const auto tokens = torch::randint(0, 257, {1, 16}, torch::kLong);
  model->train();
  EXPECT_FALSE(torch::equal(model->logits(tokens), model->logits(tokens)));
  model->eval();
  EXPECT_TRUE(torch::equal(model->logits(tokens), model->logits(tokens)));
}

}  // namespace
}  // namespace shardlens::trainer
