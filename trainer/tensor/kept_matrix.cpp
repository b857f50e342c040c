#include "trainer/tensor/kept_matrix.h"

#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "trainer/tensor/autocast_scope.h"
#include "trainer/tensor/nf4.h"

namespace shardlens::trainer::tensor {

namespace {

using torch::Tensor;
using torch::autograd::variable_list;

struct KeptMatrixProduct : torch::autograd::Function<KeptMatrixProduct> {
  static constexpr std::size_t kInputs = 5;
  static constexpr const char* kSizes = "sizes";
  static constexpr const char* kTransposed = "transposed";
  static constexpr const char* kInputType = "input type";

  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& kept, const std::vector<std::int64_t>& sizes, bool transposed,
                        const std::optional<Tensor>& nf4_levels) {
    const auto type = computed_type(x);
    const Tensor levels = nf4_levels.value_or(Tensor());
    context->save_for_backward({kept, levels});
    context->saved_data[kSizes] = sizes;
    context->saved_data[kTransposed] = transposed;
    context->saved_data[kInputType] = static_cast<std::int64_t>(x.scalar_type());
    // The types are chosen; autocast would keep a copy of the matrix.
    const AutocastScope no_autocast(x.device().type(), torch::kFloat32);
    const Tensor matrix = expand_matrix(kept, sizes, type, levels);
    return at::matmul(x.to(type), transposed ? matrix : matrix.t());
  }

  static variable_list backward(torch::autograd::AutogradContext* context,
                                variable_list gradients) {
    if (!context->needs_input_grad(0)) return variable_list(kInputs);
    const Tensor& gradient = gradients[0];
    const variable_list saved = context->get_saved_variables();
    const Tensor matrix = expand_matrix(saved[0], context->saved_data[kSizes].toIntVector(),
                                        gradient.scalar_type(), saved[1]);
    const bool transposed = context->saved_data[kTransposed].toBool();
    const auto input_type = static_cast<torch::ScalarType>(context->saved_data[kInputType].toInt());
    const Tensor of_input = at::matmul(gradient, transposed ? matrix.t() : matrix);
    variable_list of_inputs(kInputs);
    of_inputs[0] = of_input.to(input_type);
    return of_inputs;
  }
};

}  // namespace

torch::ScalarType computed_type(const Tensor& x) {
  const auto device = x.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

Tensor expand_matrix(const Tensor& kept, const std::vector<std::int64_t>& sizes,
                     torch::ScalarType type, const Tensor& levels) {
  if (kept.scalar_type() != torch::kUInt8) return kept.detach().to(type);
  return dequantize_nf4(kept.detach(), c10::multiply_integers(sizes), type,
                        levels.defined() ? levels : nf4_levels(kept.device()))
      .view(sizes);
}

Tensor kept_matrix_product(const Tensor& x, const Tensor& kept,
                           const std::vector<std::int64_t>& sizes, bool transposed,
                           const Tensor& levels) {
  // Autograd takes no undefined tensor.
  return KeptMatrixProduct::apply(x, kept, sizes, transposed,
                                  levels.defined() ? std::optional(levels) : std::nullopt);
}

}  // namespace shardlens::trainer::tensor
