#include "trainer/model/build_model.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "trainer/model/encoder_classifier.h"
#include "trainer/tensor/named_tensor.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::model {

namespace {

// Hugging Face's initializer_range for all families.
constexpr double kInitialDeviation = 0.02;

double initial_deviation(std::string_view name, const ModelShape& shape) {
  // GPT-2 scales what is added to the residual stream by 1/√(number of residual layers).
  const bool residual = shape.layout == ModelLayout::kGpt2 && name.ends_with("c_proj.weight");
  return residual ? kInitialDeviation / std::sqrt(2.0 * static_cast<double>(shape.layers))
                  : kInitialDeviation;
}

// Drawn on the CPU tensor by tensor: the same weights on every device, one tensor of extra memory.
void draw(const std::string& name, const torch::Tensor& value, const ModelShape& shape,
          at::Generator& generator) {
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

void initialize(const torch::nn::Module& model, const ModelShape& shape, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    if (shape.tied_head && name == "lm_head.weight") continue;  // drawn as the embedding
    draw(name, item.value(), shape, generator);
  }
}

}  // namespace

std::shared_ptr<DecoderModel> build_model(const ModelShape& shape, const ModelOptions& options) {
  TORCH_CHECK(!trace::job::is_encoder(shape.layout), shape.name, " is no decoder");
  const auto make = shape.layout == ModelLayout::kGpt2 ? gpt2_model : llama_model;
  std::shared_ptr<DecoderModel> model = make(shape, options.dropout, options.place());
  if (options.has_memory) initialize(*model, shape, options.seed);
  return model;
}

std::shared_ptr<Model> build_any_model(const ModelShape& shape, const ModelOptions& options) {
  if (!trace::job::is_encoder(shape.layout)) return build_model(shape, options);
  auto model = std::make_shared<EncoderClassifier>(shape, options.dropout, options.place());
  if (options.has_memory) initialize(*model, shape, options.seed);
  return model;
}

void initialize_parameters(Model& model, const ModelShape& shape, std::uint64_t seed,
                           std::span<const std::string> names) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const tensor::NamedTensor& parameter : tensor::named_parameters_of(model)) {
    if (std::ranges::find(names, parameter.name) == names.end()) continue;
    tensor::give_memory(parameter.tensor);
    draw(parameter.name, parameter.tensor, shape, generator);
  }
}

void allocate_parameters(Model& model, ParameterSource& source, bool reads) {
  const torch::NoGradGuard no_grad;
  for (const tensor::NamedTensor& parameter : tensor::named_parameters_of(model)) {
    if (tensor::has_memory(parameter.tensor)) continue;
    tensor::give_memory(parameter.tensor);
    if (!reads) continue;
    const auto read = source.read(parameter.name, 0, parameter.tensor.detach().view({-1}));
    TORCH_CHECK(read, read.error().message);
  }
}

}  // namespace shardlens::trainer::model
