#include "trainer/lora/base_weights.h"

#include <gtest/gtest.h>

#include "tests/trainer/strategy/sharded_training.h"
#include "trainer/lora/adapters.h"
#include "trainer/tensor/autocast_scope.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::lora {
namespace {

trace::job::Settings settings_with(const char* base, const char* precision = "fp32") {
  trace::job::Settings settings;
  settings.lora_rank = 4;
  EXPECT_TRUE(trace::job::set_value(settings, "base_dtype", base));
  EXPECT_TRUE(trace::job::set_value(settings, "precision", precision));
  return settings;
}

std::shared_ptr<model::DecoderModel> model_with(model::ModelLayout layout,
                                                const trace::job::Settings& settings) {
  auto model = model::build_model(trained_shape(layout), {0.0, 5, torch::kCPU});
  EXPECT_TRUE(choose_trained_part(*model, settings));
  return model;
}

TEST(BaseWeights, MatricesAreKeptAsAskedAndNormsAndBiasesInFp32) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto in_bf16 = model_with(layout, settings_with("bf16"));
    for (const auto& each : tensor::named_parameters_of(*in_bf16)) {
      const bool is_matrix = each.tensor.dim() == 2 && !is_adapter_parameter(each.name);
      EXPECT_EQ(each.tensor.scalar_type(), is_matrix ? torch::kBFloat16 : torch::kFloat32)
          << each.name;
    }
    const auto in_nf4 = model_with(layout, settings_with("nf4"));
    for (const auto& each : linear_layers_of(*in_nf4)) {
      EXPECT_EQ(each.layer->weight.scalar_type(), torch::kUInt8) << each.name;
      EXPECT_EQ(each.layer->weight.numel(),
                trace::job::nf4_bytes(each.layer->in_features() * each.layer->out_features()));
    }
    EXPECT_EQ(in_nf4->head().weight.scalar_type(), torch::kFloat32);
  }
}

TEST(BaseWeights, AutoIsBf16WhereThatIsComputedIn) {
  const auto type_of = [](const char* precision) {
    return model_with(model::ModelLayout::kGpt2, settings_with("auto", precision))
        ->head()
        .weight.scalar_type();
  };
  EXPECT_EQ(type_of("fp32"), torch::kFloat32);
  EXPECT_EQ(type_of("bf16"), torch::kBFloat16);
}

// The loss and the adapters' gradients of a model whose weights are what the kept ones stand for.
TEST(BaseWeights, ComputeWhatTheirExpandedValuesCompute) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    for (const char* base : {"bf16", "nf4"}) {
      const auto kept = model_with(layout, settings_with(base));
      const auto plain = model_with(layout, settings_with("fp32"));
      const auto layers = linear_layers_of(*kept), plain_layers = linear_layers_of(*plain);
      {
        const torch::NoGradGuard no_grad;
        for (const auto& each : plain->named_parameters()) {
          const auto value = kept->named_parameters()[each.key()];
          if (value.scalar_type() != torch::kUInt8) each.value().copy_(value);
        }
        for (std::size_t i = 0; i < layers.size(); ++i) {
          plain_layers[i].layer->weight.copy_(tensor::expand_matrix(
              layers[i].layer->weight, layers[i].layer->matrix_sizes(), torch::kFloat32));
        }
        for (const auto& model : {kept, plain}) {
          torch::manual_seed(4);
          for (const auto& each : tensor::named_parameters_of(*model)) {
            if (is_adapter_parameter(each.name)) torch::Tensor(each.tensor).normal_(0, 0.1);
          }
        }
      }
      const auto a = loss_of(*kept, 0, 0, 0), b = loss_of(*plain, 0, 0, 0);
      EXPECT_NEAR(a.item<double>(), b.item<double>(), 1e-6) << base;
      a.backward();
      b.backward();
      for (const auto& each : tensor::named_parameters_of(*kept)) {
        if (!is_adapter_parameter(each.name)) continue;
        const auto other = plain->named_parameters()[each.name].grad();
        EXPECT_LE((each.tensor.grad() - other).norm().item<double>(),
                  1e-5 * other.norm().item<double>() + 1e-9)
            << each.name;
      }
    }
  }
}

TEST(BaseWeights, InBf16AreMultipliedAsTheyAreUnderAutocast) {
  const auto settings = settings_with("bf16", "bf16");
  const auto kept = model_with(model::ModelLayout::kLlama, settings);
  auto in_fp32 = settings;
  in_fp32.base_dtype = trace::job::BaseType::kFp32;
  const auto plain = model_with(model::ModelLayout::kLlama, in_fp32);
  const tensor::AutocastScope autocast(at::kCPU, torch::kBFloat16);
  // Autocast rounds matrices, too; what is left is the embedding's rounding.
  EXPECT_NEAR(loss_of(*kept, 0, 0, 0).item<double>(), loss_of(*plain, 0, 0, 0).item<double>(),
              2e-3);
}

TEST(BaseWeights, WithoutMemoryStayWithoutIt) {
  const auto model =
      model::build_model(trained_shape(model::ModelLayout::kLlama), {0.0, 5, torch::kCPU});
  ASSERT_TRUE(add_adapters(*model, {}));
  for (const auto& each : linear_layers_of(*model)) tensor::take_memory(each.layer->weight);
  keep_frozen_as(*model, {trace::job::KeptType::kNf4, trace::job::KeptType::kFp32},
                 torch::kFloat32);
  for (const auto& each : linear_layers_of(*model)) {
    EXPECT_EQ(each.layer->weight.scalar_type(), torch::kUInt8);
    EXPECT_FALSE(tensor::has_memory(each.layer->weight));
  }
}

}  // namespace
}  // namespace shardlens::trainer::lora
