#include "trainer/tensor/kept_matrix.h"

#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <optional>

#include "trace/job/shape/lora.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer::tensor {

namespace {

using torch::Tensor;
using torch::autograd::variable_list;
using trace::job::kNf4BlockBytes;
using trace::job::kNf4BlockValues;

constexpr std::int64_t kScaleBytes = 4;

// Dettmers et al. 2023, QLoRA, appendix E: quantiles of a normal distribution, scaled to [-1, 1],
// with an exact 0; the digits are those of bitsandbytes.
constexpr std::array<float, 16> kLevels{-1.0f,
                                        -0.6961928009986877f,
                                        -0.5250730514526367f,
                                        -0.39491748809814453f,
                                        -0.28444138169288635f,
                                        -0.18477343022823334f,
                                        -0.09105003625154495f,
                                        0.0f,
                                        0.07958029955625534f,
                                        0.16093020141124725f,
                                        0.24611230194568634f,
                                        0.33791524171829224f,
                                        0.44070982933044434f,
                                        0.5626170039176941f,
                                        0.7229568362236023f,
                                        1.0f};

torch::Tensor on_device(std::span<const float> values, torch::Device device) {
  return torch::tensor(at::ArrayRef<float>(values.data(), values.size())).to(device);
}

// Halfway between neighbours; what lies on a border belongs to the lower level.
torch::Tensor borders(torch::Device device) {
  std::array<float, 15> middles;
  for (std::size_t i = 0; i < middles.size(); ++i) {
    middles[i] = static_cast<float>((static_cast<double>(kLevels[i]) + kLevels[i + 1]) / 2);
  }
  return on_device(middles, device);
}

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

torch::Tensor quantize_nf4(const torch::Tensor& values) {
  const torch::NoGradGuard no_grad;
  torch::Tensor flat = values.detach().to(torch::kFloat32).flatten();
  const std::int64_t blocks = (flat.numel() + kNf4BlockValues - 1) / kNf4BlockValues;
  const std::int64_t missing = blocks * kNf4BlockValues - flat.numel();
  if (missing > 0) flat = at::constant_pad_nd(flat, {0, missing});
  const torch::Tensor by_block = flat.view({blocks, kNf4BlockValues});
  const torch::Tensor scale = by_block.abs().amax(1, /*keepdim=*/true);
  // A block of zeros has no scale to divide by.
  const torch::Tensor shares = by_block / scale.masked_fill(scale.eq(0), 1.0);
  const torch::Tensor codes =
      at::bucketize(shares, borders(values.device()), /*out_int32=*/true).to(torch::kUInt8);
  const torch::Tensor pairs = codes.view({blocks, kNf4BlockValues / 2, 2});
  torch::Tensor bytes = torch::empty({blocks, kNf4BlockBytes}, codes.options());
  bytes.narrow(1, 0, kScaleBytes).copy_(scale.view(torch::kUInt8));
  bytes.narrow(1, kScaleBytes, kNf4BlockValues / 2)
      .copy_(pairs.select(2, 0) * 16 + pairs.select(2, 1));
  return bytes.flatten();
}

torch::Tensor nf4_levels(torch::Device device) {
  std::array<float, 512> pairs;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    pairs[2 * byte] = kLevels[byte >> 4];
    pairs[2 * byte + 1] = kLevels[byte & 15];
  }
  return on_device(pairs, device).view({256, 2});
}

torch::Tensor dequantize_nf4(const torch::Tensor& bytes, std::int64_t count, torch::ScalarType type,
                             const torch::Tensor& levels) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor by_block = bytes.view({-1, kNf4BlockBytes});
  const std::int64_t blocks = by_block.size(0);
  const torch::Tensor scale =
      by_block.narrow(1, 0, kScaleBytes).contiguous().view(torch::kFloat32);  // [blocks, 1]
  const torch::Tensor packed = by_block.narrow(1, kScaleBytes, kNf4BlockValues / 2);
  const torch::Tensor shares =
      at::index_select(levels.defined() ? levels : nf4_levels(bytes.device()), 0,
                       packed.to(torch::kInt32).flatten());
  const torch::Tensor values = shares.view({blocks, kNf4BlockValues}).mul_(scale).to(type);
  return values.view({-1}).narrow(0, 0, count);
}

torch::ScalarType computed_type(const Tensor& x) {
  const auto device = x.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

Tensor expand_matrix(const Tensor& kept, const std::vector<std::int64_t>& sizes,
                     torch::ScalarType type, const Tensor& levels) {
  if (kept.scalar_type() != torch::kUInt8) return kept.detach().to(type);
  return dequantize_nf4(kept.detach(), c10::multiply_integers(sizes), type, levels).view(sizes);
}

Tensor kept_matrix_product(const Tensor& x, const Tensor& kept,
                           const std::vector<std::int64_t>& sizes, bool transposed,
                           const Tensor& levels) {
  // Autograd takes no undefined tensor.
  return KeptMatrixProduct::apply(x, kept, sizes, transposed,
                                  levels.defined() ? std::optional(levels) : std::nullopt);
}

}  // namespace shardlens::trainer::tensor
