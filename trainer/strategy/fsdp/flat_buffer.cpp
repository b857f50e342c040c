#include "trainer/strategy/fsdp/flat_buffer.h"

#include <algorithm>

#include "profiler/pytorch/torch_sources.h"
#include "trace/job/shape/lora.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::strategy {

using profiler::memory::MemoryCategoryScope;
using trace::model::MemoryCategory;

namespace {

// Fills `parts`, which lie in `flat`, with `gradients` times `scale`; these are gone afterwards.
void put_scaled(torch::Tensor& flat, std::vector<torch::Tensor>& parts,
                std::vector<torch::Tensor> gradients, double scale) {
  if (parts.empty()) return;
  if (flat.is_cuda()) {
    // On a GPU many small kernels cost more than touching the values twice, which only fp16 needs:
    // see GradientReducer::averaging(). In the type of the reduction, as in fully_shard.
    at::_foreach_copy_(parts, gradients);
    if (scale != 1) flat.mul_(scale);
    return;
  }
  const torch::Tensor factor = torch::scalar_tensor(scale, torch::kFloat64);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (gradients[i].scalar_type() == parts[i].scalar_type()) {
      at::mul_out(parts[i], gradients[i], factor);
    } else {
      // In one go it would be computed in the gradient's type, in memory of its own.
      parts[i].copy_(gradients[i]).mul_(scale);
    }
    gradients[i].reset();
  }
}

// On a CPU a sum of two types is computed in memory of its own: of as many values at a time as keep
// several threads busy.
void add_to(const torch::Tensor& sum, const torch::Tensor& gradient) {
  constexpr std::int64_t kValues = 1 << 18;
  const std::int64_t at_once = sum.is_cuda() ? sum.numel() : kValues;
  for (std::int64_t at = 0; at < sum.numel(); at += at_once) {
    sum.slice(0, at, at + at_once).add_(gradient.slice(0, at, at + at_once));
  }
}

}  // namespace

FlatBuffer::FlatBuffer(const std::vector<tensor::NamedTensor>& parameters,
                       const FlatBufferOptions& options, model::ParameterSource* source)
    : options_(options), parameters_(parameters), used_(parameters.size(), 0.0f) {
  TORCH_CHECK(!parameters_.empty(), "a unit of sharding needs at least one parameter");
  trained_ = parameters_.front().tensor.requires_grad();
  kept_type_ = parameters_.front().tensor.scalar_type();
  TORCH_CHECK(!trained_ || kept_type_ == torch::kFloat32, "trained parameters are kept in fp32");
  gathered_type_ = kept_type_ == torch::kFloat32 ? options_.param_dtype : kept_type_;
  const torch::NoGradGuard no_grad;
  lay_out();
  take_values(source);
  list_local();
}

void FlatBuffer::lay_out() {
  std::int64_t offset = 0;
  for (const tensor::NamedTensor& parameter : parameters_) {
    places_.push_back({offset, kNowhere});
    offset += parameter.tensor.numel();
  }
  // Blocks of 4-bit values are not cut: their scale is the block's own.
  const std::int64_t granule = kept_type_ == torch::kUInt8 ? trace::job::kNf4BlockBytes : 1;
  const std::int64_t parts = granule * options_.shard_count;
  shard_numel_ = (offset + parts - 1) / parts * granule;
}

void FlatBuffer::take_values(model::ParameterSource* source) {
  {
    const MemoryCategoryScope category(MemoryCategory::kParameters);
    shard_ = torch::zeros({shard_numel_}, torch::dtype(kept_type_).device(options_.shard_device));
    fill_shard(source);
    // Copies to and from pinned memory overlap with computation.
    if (options_.shard_device != options_.device) shard_ = shard_.pin_memory();
  }
  resident_ = options_.shard_count == 1 && gathered_type_ == kept_type_ &&
              options_.shard_device == options_.device;
  const auto gathered = torch::dtype(gathered_type_).device(options_.device);
  whole_ = resident_ ? shard_ : tensor::tensor_without_memory({numel()}, gathered);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor& parameter = parameters_[i].tensor;
    parameter.set_data(
        whole_.narrow(0, places_[i].offset, parameter.numel()).view(parameter.sizes()));
    count_gradient_of(parameter);
  }
  if (!resident_) release();
}

void FlatBuffer::fill_shard(model::ParameterSource* source) {
  const std::int64_t first = options_.shard_rank * shard_numel_, last = first + shard_numel_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const torch::Tensor& value = parameters_[i].tensor;
    const std::int64_t begin = std::max(first, places_[i].offset);
    const std::int64_t end = std::min(last, places_[i].offset + value.numel());
    if (begin >= end) continue;
    const torch::Tensor part = shard_.narrow(0, begin - first, end - begin);
    if (tensor::has_memory(value)) {
      part.copy_(value.detach().flatten().narrow(0, begin - places_[i].offset, end - begin));
      continue;
    }
    TORCH_CHECK(source != nullptr, "parameter ", parameters_[i].name, " has no values");
    const auto read = source->read(parameters_[i].name, begin - places_[i].offset, part);
    TORCH_CHECK(read, read.error().message);
  }
}

void FlatBuffer::list_local() {
  const std::int64_t first = options_.shard_rank * shard_numel_, last = first + shard_numel_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const torch::Tensor& parameter = parameters_[i].tensor;
    const std::int64_t begin = std::max(first, places_[i].offset);
    const std::int64_t end = std::min(last, places_[i].offset + parameter.numel());
    if (begin >= end) continue;
    places_[i].local = local_.size();
    local_.push_back({parameters_[i].name, parameter.sizes().vec(), begin - places_[i].offset,
                      end - places_[i].offset, shard_.narrow(0, begin - first, end - begin),
                      trained_, options_.is_primary, !trained_});
  }
}

std::int64_t FlatBuffer::bytes() const {
  return numel() * static_cast<std::int64_t>(c10::elementSize(gathered_type_));
}

std::int64_t FlatBuffer::shard_bytes() const { return static_cast<std::int64_t>(shard_.nbytes()); }

std::int64_t FlatBuffer::reduced_bytes() const {
  return numel() * static_cast<std::int64_t>(c10::elementSize(options_.reduce_dtype));
}

torch::Tensor FlatBuffer::allocate() {
  const MemoryCategoryScope category(MemoryCategory::kGatheredParameters);
  gathered_version_ = shard_version();
  tensor::give_memory(whole_);
  // Cast on the device: a cast on the host would be one to memory that is not pinned.
  const torch::Tensor part = gathered_type_ == kept_type_ && options_.shard_count == 1
                                 ? shard_
                                 : shard_.to(options_.device, /*non_blocking=*/true);
  if (options_.shard_count > 1) return part.to(gathered_type_);
  whole_.copy_(part, /*non_blocking=*/true);
  return whole_;
}

c10::DataPtr FlatBuffer::release() { return tensor::take_memory(whole_); }

void FlatBuffer::shard_was_updated() { shard_.unsafeGetTensorImpl()->bump_version(); }

torch::Tensor FlatBuffer::take_gradients(double scale) {
  if (sums_.defined()) {
    accumulate_gradients();
    if (scale != 1) sums_.mul_(scale);
    return std::exchange(sums_, torch::Tensor());
  }
  const MemoryCategoryScope category(options_.shard_count == 1 ? MemoryCategory::kGradients
                                                               : MemoryCategory::kCommunication);
  return flat_gradients(scale);
}

void FlatBuffer::accumulate_gradients() {
  if (gathered_type_ == options_.reduce_dtype) return;
  if (!sums_.defined()) {
    const MemoryCategoryScope category(MemoryCategory::kGradients);
    sums_ = flat_gradients(1);
    return;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor& gradient = parameters_[i].tensor.mutable_grad();
    if (!gradient.defined()) continue;
    add_to(sums_.narrow(0, places_[i].offset, gradient.numel()), gradient.flatten());
    gradient.reset();
    used_[i] = 1.0f;
  }
}

torch::Tensor FlatBuffer::flat_gradients(double scale) {
  torch::Tensor flat = torch::empty({numel()}, whole_.options().dtype(options_.reduce_dtype));
  std::vector<torch::Tensor> gradients, parts;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor& gradient = parameters_[i].tensor.mutable_grad();
    torch::Tensor part = flat.narrow(0, places_[i].offset, parameters_[i].tensor.numel());
    end = places_[i].offset + part.numel();
    if (gradient.defined()) {
      gradients.push_back(gradient.flatten());
      parts.push_back(std::move(part));
      gradient.reset();
      used_[i] = 1.0f;
    } else {
      part.zero_();
    }
  }
  put_scaled(flat, parts, std::move(gradients), scale);
  flat.narrow(0, end, numel() - end).zero_();
  return flat;
}

void FlatBuffer::add_reduced(const torch::Tensor& part) {
  const MemoryCategoryScope category(MemoryCategory::kGradients);
  torch::Tensor added = part.to(kept_type_);
  if (options_.shard_device != options_.device) {
    const torch::Tensor on_device = std::move(added);
    added = torch::empty({shard_numel_}, shard_.options().pinned_memory(true));
    // What is added on the host has to be there. The rest is once the stream has been waited for.
    added.copy_(on_device, /*non_blocking=*/!shard_gradient_.defined());
  }
  if (shard_gradient_.defined()) {
    shard_gradient_ += added;
  } else {
    shard_gradient_ = added;
  }
}

std::vector<float> FlatBuffer::take_used() {
  return std::exchange(used_, std::vector<float>(parameters_.size(), 0.0f));
}

void FlatBuffer::publish_gradients() {
  if (!shard_gradient_.defined()) return;
  std::int64_t offset = 0;
  for (LocalParameter& parameter : local_) {
    const std::int64_t numel = parameter.end - parameter.begin;
    parameter.value.mutable_grad() = shard_gradient_.narrow(0, offset, numel);
    offset += numel;
  }
}

void FlatBuffer::drop_unused(const float* used_by) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (used_by[i] > 0 || places_[i].local == kNowhere) continue;
    local_[places_[i].local].value.mutable_grad().reset();
  }
}

void FlatBuffer::drop_gradients() {
  for (LocalParameter& parameter : local_) parameter.value.mutable_grad().reset();
  shard_gradient_.reset();
  sums_.reset();
  std::ranges::fill(used_, 0.0f);
}

}  // namespace shardlens::trainer::strategy
