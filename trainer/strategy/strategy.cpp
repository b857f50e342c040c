#include "trainer/strategy/strategy.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::strategy {

std::vector<std::size_t> optimized_parameters(std::span<const LocalParameter> parameters) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_optimized) indices.push_back(i);
  }
  return indices;
}

void count_gradient_of(const torch::Tensor& parameter) {
  if (!parameter.requires_grad()) return;
  parameter.register_hook([](const torch::Tensor& gradient) {
    profiler::pytorch::recategorize(gradient, trace::model::MemoryCategory::kGradients);
  });
}

void broadcast_initial_values(comm::Communicator& world, const std::vector<torch::Tensor>& values) {
  constexpr std::size_t kBytes = 250u << 20;  // DistributedDataParallel.broadcast_bucket_size
  // c10d asserts that there is one.
  if (values.empty()) return;
  world.set_default_tag(comm::named_tag("parameters"));
  const profiler::memory::MemoryCategoryScope category(
      trace::model::MemoryCategory::kCommunication);
  c10d::broadcast_coalesced(world.process_group(), values, kBytes, 0);
}

}  // namespace shardlens::trainer::strategy
