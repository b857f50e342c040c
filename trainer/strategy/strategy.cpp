#include "trainer/strategy/strategy.h"

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

}  // namespace shardlens::trainer::strategy
