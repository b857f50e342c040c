#include <gtest/gtest.h>

#include "tests/trainer/strategy/sharded_training.h"
#include "trace/job/shape/lora.h"
#include "trainer/lora/adapters.h"
#include "trainer/lora/base_weights.h"
#include "trainer/tensor/kept_matrix.h"

namespace shardlens::trainer::lora {
namespace {

// The values of a model, and how many were asked for.
class ModelSource final : public model::ParameterSource {
 public:
  explicit ModelSource(const model::Model& model) : values_(model.named_parameters()) {}
  trace::base::Result<void> read(const std::string& name, std::int64_t begin,
                                 const torch::Tensor& into) override {
    read_values += into.numel();
    const torch::NoGradGuard no_grad;
    into.flatten().copy_(values_[name].flatten().narrow(0, begin, into.numel()));
    return {};
  }
  std::int64_t read_values = 0;

 private:
  torch::OrderedDict<std::string, torch::Tensor> values_;
};

TEST(BaseSource, GivesTheBytesOfAnyBlocksAndReadsNoMoreThanTheirs) {
  const auto model =
      model::build_model(trained_shape(model::ModelLayout::kLlama), {0.0, 5, torch::kCPU});
  ModelSource values(*model);
  BaseSource source(*model, values);
  for (const NamedLinear& each : linear_layers_of(*model)) {
    const auto whole = tensor::quantize_nf4(each.layer->weight);
    const std::int64_t blocks = whole.numel() / trace::job::kNf4BlockBytes;
    for (const std::int64_t first : {std::int64_t{0}, blocks / 2, blocks - 1}) {
      values.read_values = 0;
      const auto into =
          torch::empty({(blocks - first) * trace::job::kNf4BlockBytes}, torch::kUInt8);
      ASSERT_TRUE(source.read(each.name + ".weight", first * trace::job::kNf4BlockBytes, into));
      EXPECT_TRUE(torch::equal(into, whole.slice(0, first * trace::job::kNf4BlockBytes)))
          << each.name;
      EXPECT_EQ(values.read_values,
                each.layer->weight.numel() - first * trace::job::kNf4BlockValues);
    }
  }
}

TEST(BaseSource, PassesOtherTypesOn) {
  const auto model =
      model::build_model(trained_shape(model::ModelLayout::kLlama), {0.0, 5, torch::kCPU});
  ModelSource values(*model);
  BaseSource source(*model, values);
  const auto into = torch::empty({30}, torch::kBFloat16);
  ASSERT_TRUE(source.read("model.embed_tokens.weight", 7, into));
  const auto expected = model->named_parameters()["model.embed_tokens.weight"].flatten();
  EXPECT_TRUE(torch::equal(into, expected.narrow(0, 7, 30).to(torch::kBFloat16)));
}

}  // namespace
}  // namespace shardlens::trainer::lora
