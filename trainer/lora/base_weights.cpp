#include "trainer/lora/base_weights.h"

#include <unordered_set>

#include "trainer/lora/adapters.h"
#include "trainer/model/layers/layers.h"
#include "trainer/tensor/nf4.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::lora {

namespace {

using trace::job::KeptType;

// Autograd and strategies know the parameter by its TensorImpl, which stays.
void replace(torch::Tensor& parameter, const torch::Tensor& value) { parameter.set_data(value); }

void keep_in_nf4(torch::Tensor& matrix) {
  if (tensor::has_memory(matrix)) return replace(matrix, tensor::quantize_nf4(matrix));
  replace(matrix, tensor::tensor_without_memory({trace::job::nf4_bytes(matrix.numel())},
                                                matrix.options().dtype(torch::kUInt8)));
}

void keep_in_bf16(torch::Tensor& matrix) {
  if (tensor::has_memory(matrix)) return replace(matrix, matrix.detach().to(torch::kBFloat16));
  replace(matrix,
          tensor::tensor_without_memory(matrix.sizes(), matrix.options().dtype(torch::kBFloat16)));
}

}  // namespace

void keep_frozen_as(model::Model& model, const trace::job::KeptTypes& types,
                    torch::ScalarType embeds_in) {
  const torch::NoGradGuard no_grad;
  std::unordered_set<const c10::TensorImpl*> linear;
  torch::Tensor levels;  // one table for all layers
  for (const NamedLinear& each : linear_layers_of(model)) {
    torch::Tensor& matrix = each.layer->weight;
    if (matrix.requires_grad()) continue;
    linear.insert(matrix.unsafeGetTensorImpl());
    if (types.linear == KeptType::kNf4) {
      keep_in_nf4(matrix);
      if (!levels.defined()) levels = tensor::nf4_levels(matrix.device());
      each.layer->set_nf4_levels(levels);
    }
    if (types.linear == KeptType::kBf16) keep_in_bf16(matrix);
  }
  if (types.other == KeptType::kFp32) return;
  for (torch::Tensor parameter : model.parameters()) {
    const bool is_other = !parameter.requires_grad() && parameter.dim() >= 2 &&
                          parameter.scalar_type() == torch::kFloat32 &&
                          !linear.contains(parameter.unsafeGetTensorImpl());
    if (is_other) keep_in_bf16(parameter);
  }
  for (const auto& module : model.modules()) {
    auto* embedding = dynamic_cast<model::Embedding*>(module.get());
    if (embedding != nullptr && !embedding->weight.requires_grad()) {
      embedding->output_type = embeds_in;
    }
  }
}

}  // namespace shardlens::trainer::lora
