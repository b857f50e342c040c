#include "trainer/model/decoder_model.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <string>
#include <string_view>

#include "trainer/model/gpt2_model.h"
#include "trainer/model/llama_model.h"

namespace shardlens::trainer {

namespace {

// Hugging Face's initializer_range for both families.
constexpr double kInitialDeviation = 0.02;

double initial_deviation(std::string_view name, const ModelShape& shape) {
  // GPT-2 scales what is added to the residual stream by 1/√(number of residual layers).
  const bool residual = shape.layout == ModelLayout::kGpt2 && name.ends_with("c_proj.weight");
  return residual ? kInitialDeviation / std::sqrt(2.0 * static_cast<double>(shape.layers))
                  : kInitialDeviation;
}

// Drawn on the CPU tensor by tensor: the same weights on every device, one tensor of extra memory.
void initialize(const torch::nn::Module& model, const ModelShape& shape, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    const torch::Tensor& value = item.value();
    if (shape.tied_head && name == "lm_head.weight") continue;  // drawn as the embedding
    if (name.ends_with(".bias")) {
      value.zero_();
    } else if (value.dim() == 1) {  // a norm's scale
      value.fill_(1.0);
    } else {
      const torch::Tensor drawn = torch::empty(value.sizes(), torch::kFloat32);
      drawn.normal_(0.0, initial_deviation(name, shape), generator);
      value.copy_(drawn);
    }
  }
}

}  // namespace

std::shared_ptr<DecoderModel> build_model(const ModelShape& shape, const ModelOptions& options) {
  std::shared_ptr<DecoderModel> model;
  if (shape.layout == ModelLayout::kGpt2) {
    model = std::make_shared<Gpt2Model>(shape, options.dropout, options.device);
  } else {
    model = std::make_shared<LlamaModel>(shape, options.dropout, options.device);
  }
  initialize(*model, shape, options.seed);
  return model;
}

}  // namespace shardlens::trainer
