#include "trainer/lora/base_weights.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "trace/base/checksum.h"
#include "trace/job/shape/strategy.h"
#include "trainer/lora/adapters.h"
#include "trainer/model/layers/layers.h"
#include "trainer/tensor/kept_matrix.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::lora {

namespace {

using trace::job::KeptType;
using trace::job::kNf4BlockBytes;
using trace::job::kNf4BlockValues;

// Autograd and strategies know the parameter by its TensorImpl, which set_data() leaves.
void keep_in_nf4(torch::Tensor& matrix) {
  matrix.set_data(tensor::has_memory(matrix)
                      ? tensor::quantize_nf4(matrix)
                      : tensor::tensor_without_memory({trace::job::nf4_bytes(matrix.numel())},
                                                      matrix.options().dtype(torch::kUInt8)));
}

void keep_in_bf16(torch::Tensor& matrix) {
  const auto options = matrix.options().dtype(torch::kBFloat16);
  matrix.set_data(tensor::has_memory(matrix)
                      ? matrix.detach().to(torch::kBFloat16)
                      : tensor::tensor_without_memory(matrix.sizes(), options));
}

constexpr std::int64_t kBlocksAtATime = 32768;  // 8 MiB in fp32

constexpr std::int64_t kElementsAtATime = std::int64_t{1} << 22;

torch::Tensor bits_of(const torch::Tensor& values) {
  switch (values.element_size()) {
    case 1:
      return values.view(torch::kInt8);
    case 2:
      return values.view(torch::kInt16);
    default:
      return values.view(torch::kInt32);
  }
}

// The sum of bits times an odd number that tells the position, modulo 2^64: sums of ranges add up
// to that of the whole, wherever it is cut.
torch::Tensor checksum_of(const strategy::LocalParameter& part) {
  const torch::Tensor bits = bits_of(part.value.detach().contiguous().flatten());
  torch::Tensor sum = torch::zeros({1}, bits.options().dtype(torch::kInt64));
  for (std::int64_t first = 0; first < bits.numel(); first += kElementsAtATime) {
    const std::int64_t count = std::min(kElementsAtATime, bits.numel() - first);
    const std::int64_t position = part.begin + first;
    const torch::Tensor odd =
        torch::arange(position, position + count, sum.options()).mul_(2).add_(1);
    sum += odd.mul_(bits.narrow(0, first, count)).sum();
  }
  return sum.mul_(static_cast<std::int64_t>(stable_hash(part.name, 0) | 1));
}

void freeze_blocks(model::Model& model, std::int64_t count) {
  const auto blocks = model.blocks();
  for (std::int64_t i = 0; i < std::min(count, static_cast<std::int64_t>(blocks.size())); ++i) {
    for (torch::Tensor& parameter : blocks[static_cast<std::size_t>(i)]->parameters()) {
      parameter.set_requires_grad(false);
    }
  }
}

// Between layers, values are in the type that parameters of fp32 are gathered in.
torch::ScalarType type_between_layers(const trace::job::Settings& settings) {
  const bool gathers = trace::job::strategy_traits(settings.sharding_strategy).has_units;
  if (gathers && settings.param_dtype == trace::job::DataType::kBf16) return torch::kBFloat16;
  return gathers && settings.param_dtype == trace::job::DataType::kFp16 ? torch::kFloat16
                                                                        : torch::kFloat32;
}

}  // namespace

trace::base::Result<void> choose_trained_part(model::Model& model,
                                              const trace::job::Settings& settings) {
  freeze_blocks(model, settings.frozen_blocks);
  if (settings.lora_rank > 0) TRY(add_adapters(model, lora_options(settings)));
  keep_frozen_as(model, trace::job::kept_types(settings), type_between_layers(settings));
  return {};
}

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

BaseSource::BaseSource(const model::Model& model, model::ParameterSource& values)
    : values_(values) {
  for (const NamedLinear& each : linear_layers_of(model)) {
    numels_[each.name + ".weight"] = c10::multiply_integers(each.layer->matrix_sizes());
  }
}

trace::base::Result<void> BaseSource::read(const std::string& name, std::int64_t begin,
                                           const torch::Tensor& into) {
  if (into.scalar_type() != torch::kUInt8) return values_.read(name, begin, into);
  TORCH_CHECK(begin % kNf4BlockBytes == 0 && into.numel() % kNf4BlockBytes == 0, "a range of ",
              name, " cuts a block of 4-bit values");
  const std::int64_t all = numels_.at(name);
  const torch::Tensor bytes = into.flatten();
  for (std::int64_t done = 0; done < bytes.numel();) {
    const std::int64_t count = std::min(kBlocksAtATime * kNf4BlockBytes, bytes.numel() - done);
    const std::int64_t first = (begin + done) / kNf4BlockBytes * kNf4BlockValues;
    const std::int64_t last = std::min(all, first + count / kNf4BlockBytes * kNf4BlockValues);
    const torch::Tensor values =
        torch::empty({last - first}, torch::dtype(torch::kFloat32).device(into.device()));
    TRY(values_.read(name, first, values));
    bytes.narrow(0, done, count).copy_(tensor::quantize_nf4(values));
    done += count;
  }
  return {};
}

std::string base_fingerprint(std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator) {
  const torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({1}, torch::dtype(torch::kInt64).device(communicator.device()));
  for (const strategy::LocalParameter& part : parameters) {
    if (part.is_frozen && part.is_primary) sum += checksum_of(part).to(sum.device());
  }
  if (communicator.world_size() > 1) {
    communicator.all_reduce(sum, comm::named_tag("base fingerprint"))->wait();
  }
  return trace::base::checksum_text(static_cast<std::uint64_t>(sum.item<std::int64_t>()));
}

}  // namespace shardlens::trainer::lora
