#include "trainer/lora/adapters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn.h>

#include <cmath>

#include "tests/trainer/strategy/sharded_training.h"
#include "trace/job/shape/lora.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer::lora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<model::DecoderModel> model_of(model::ModelLayout layout) {
  return model::build_model(trained_shape(layout), {0.0, 5, torch::kCPU});
}

std::vector<std::string> names_of(const std::vector<NamedLinear>& layers) {
  std::vector<std::string> names;
  for (const auto& each : layers) names.push_back(each.name);
  return names;
}

TEST(Adapters, ChangeNothingAtFirst) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto plain = model_of(layout), adapted = model_of(layout);
    ASSERT_TRUE(add_adapters(*adapted, {4, 16, 0.0, "all-linear", 1}));
    EXPECT_TRUE(torch::equal(loss_of(*plain, 0, 0, 0), loss_of(*adapted, 0, 0, 0)));
  }
}

TEST(Adapters, AddAlphaOverRankTimesBAToTheMatrix) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto merged = model_of(layout), adapted = model_of(layout);
    const auto layers = add_adapters(*adapted, {4, 6, 0.0, "all-linear", 1});
    ASSERT_TRUE(layers);
    torch::manual_seed(2);
    const torch::NoGradGuard no_grad;
    const auto weights = merged->named_parameters();
    const auto parameters = adapted->named_parameters();
    for (const auto& each : *layers) {
      const auto a = parameters[each.name + ".lora_A.weight"];
      const auto b = parameters[each.name + ".lora_B.weight"];
      b.normal_(0, 0.1);
      const auto change = at::mm(b, a) * (6.0 / 4);
      torch::Tensor weight = weights[each.name + ".weight"];
      weight.add_(each.layer->is_transposed() ? change.t() : change);
    }
    EXPECT_NEAR(loss_of(*merged, 0, 0, 0).item<double>(), loss_of(*adapted, 0, 0, 0).item<double>(),
                1e-6);
  }
}

// Autocast casts a layer's input, of whatever type, to what a copy in the factors' type would be
// cast to.
TEST(Adapters, UnderAutocastComputeAsFromACopyOfTheirInput) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const auto plain = model_of(model::ModelLayout::kLlama),
               adapted = model_of(model::ModelLayout::kLlama);
    const auto layers = add_adapters(*adapted, {4, 6, 0.0, "q_proj", 1});
    ASSERT_TRUE(layers);
    const NamedLinear& first = layers->front();
    const auto parameters = adapted->named_parameters();
    const auto a = parameters[first.name + ".lora_A.weight"];
    const auto b = parameters[first.name + ".lora_B.weight"];
    torch::nn::init::normal_(b, 0, 0.1);
    const auto x = torch::randn({2, 5, first.layer->in_features()}).to(type);
    const tensor::AutocastScope autocast(at::kCPU, torch::kBFloat16);
    const auto alone = linear_layers_of(*plain).front().layer->forward(x);
    const auto addition = at::linear(at::linear(x.to(torch::kFloat32), a), b) * (6.0 / 4);
    EXPECT_TRUE(torch::equal(first.layer->forward(x), (alone + addition).to(alone.scalar_type())));
  }
}

TEST(Adapters, AreAllThatIsTrained) {
  const auto model = model_of(model::ModelLayout::kLlama);
  ASSERT_TRUE(add_adapters(*model, {4, 8, 0.0, "auto", 1}));
  std::int64_t trained = 0;
  for (const auto& each : tensor::named_parameters_of(*model)) {
    EXPECT_EQ(each.tensor.requires_grad(), is_adapter_parameter(each.name)) << each.name;
    if (each.tensor.requires_grad()) trained += each.tensor.numel();
  }
  trace::job::Settings settings;
  settings.lora_rank = 4;
  EXPECT_EQ(trained,
            trace::job::trained_share(trained_shape(model::ModelLayout::kLlama), settings).trained);
}

TEST(Adapters, StandBesideTheLayersThatPeftChooses) {
  EXPECT_THAT(names_of(*add_adapters(*model_of(model::ModelLayout::kGpt2), {})),
              ElementsAre("transformer.h.0.attn.c_attn", "transformer.h.1.attn.c_attn",
                          "transformer.h.2.attn.c_attn"));
  EXPECT_THAT(names_of(*add_adapters(*model_of(model::ModelLayout::kLlama), {})),
              ElementsAre("model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.v_proj",
                          "model.layers.1.self_attn.q_proj", "model.layers.1.self_attn.v_proj",
                          "model.layers.2.self_attn.q_proj", "model.layers.2.self_attn.v_proj"));
}

TEST(Adapters, StandBesideTheLayersThatTheShapeTells) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto layers = linear_layers_of(*model_of(layout));
    const auto shapes = trace::job::linear_layers(trained_shape(layout));
    ASSERT_EQ(layers.size(), shapes.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      EXPECT_EQ(layers[i].name, shapes[i].name);
      EXPECT_EQ(layers[i].layer->in_features(), shapes[i].in) << layers[i].name;
      EXPECT_EQ(layers[i].layer->out_features(), shapes[i].out) << layers[i].name;
    }
  }
}

TEST(Adapters, AreInitialisedAsPeftDoes) {
  const auto model = model_of(model::ModelLayout::kLlama);
  ASSERT_TRUE(add_adapters(*model, {64, 8, 0.0, "down_proj", 1}));
  const auto parameters = model->named_parameters();
  const auto a = parameters["model.layers.0.mlp.down_proj.lora_A.weight"];
  const double bound = 1 / std::sqrt(42.0);
  EXPECT_LE(a.abs().max().item<double>(), bound);
  EXPECT_GT(a.abs().max().item<double>(), 0.99 * bound);
  EXPECT_NEAR(a.std().item<double>(), bound / std::sqrt(3.0), 0.03 * bound);
  EXPECT_EQ(parameters["model.layers.0.mlp.down_proj.lora_B.weight"].abs().sum().item<double>(), 0);
  EXPECT_FALSE(torch::equal(a, parameters["model.layers.1.mlp.down_proj.lora_A.weight"]));
}

TEST(Adapters, AreTheSameByRanges) {
  const std::string name = "model.layers.0.mlp.down_proj.lora_A.weight";
  const auto whole = torch::empty({4, 42}), part = torch::empty({50});
  fill_initial_adapter(name, 42, 0, 9, whole);
  fill_initial_adapter(name, 42, 100, 9, part);
  EXPECT_TRUE(torch::equal(whole.flatten().narrow(0, 100, 50), part));
}

TEST(Adapters, DropTheirInputsOnlyWhileTraining) {
  const auto model = model_of(model::ModelLayout::kGpt2);
  ASSERT_TRUE(add_adapters(*model, {4, 64, 0.5, "all-linear", 1}));
  {
    const torch::NoGradGuard no_grad;
    for (const auto& each : tensor::named_parameters_of(*model)) {
      if (is_adapter_parameter(each.name)) torch::Tensor(each.tensor).normal_(0, 0.2);
    }
  }
  const auto loss = [&] { return loss_of(*model, 0, 0, 0).item<double>(); };
  EXPECT_NE(loss(), loss());
  model->eval();
  EXPECT_EQ(loss(), loss());
}

TEST(Adapters, ForLayersThatAreNotThereAreAnErrorThatListsThem) {
  const auto added =
      add_adapters(*model_of(model::ModelLayout::kLlama), {4, 8, 0.0, "q_proj,c_attn", 1});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message,
              testing::AllOf(HasSubstr("\"c_attn\""),
                             HasSubstr("q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, "
                                       "down_proj")));
}

}  // namespace
}  // namespace shardlens::trainer::lora
