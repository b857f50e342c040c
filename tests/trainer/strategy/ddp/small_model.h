// A small model, data that differ between ranks, and its training by one process: what
// data-parallel training must equal. For tests.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "trainer/strategy/ddp/data_parallel.h"

namespace shardlens::trainer::strategy {

inline constexpr int kSteps = 4;
inline constexpr int kRanks = 2;
inline constexpr int kMicroBatches = 2;
inline constexpr double kLearningRate = 0.05;

// Three layers with named weights; forward may leave the last one out.
struct SmallModel {
  std::vector<tensor::NamedTensor> parameters;

  explicit SmallModel(const std::vector<torch::Tensor>& values) {
    const char* names[] = {"first.weight", "first.bias", "second.weight", "second.bias",
                           "last.weight"};
    for (std::size_t i = 0; i < values.size(); ++i) {
      parameters.push_back({names[i], values[i].clone().set_requires_grad(true)});
    }
  }
  torch::Tensor weight(std::size_t i) const { return parameters[i].tensor; }

  torch::Tensor loss(const torch::Tensor& input, bool use_last = true) const {
    auto hidden = torch::tanh(torch::linear(input, weight(0), weight(1)));
    hidden = torch::tanh(torch::linear(hidden, weight(2), weight(3)));
    if (use_last) hidden = torch::linear(hidden, weight(4));
    return hidden.square().mean();
  }
  void descend() {
    const torch::NoGradGuard no_gradients;
    for (const tensor::NamedTensor& each : parameters) {
      if (each.tensor.grad().defined()) each.tensor.sub_(each.tensor.grad() * kLearningRate);
    }
  }
};

inline std::vector<torch::Tensor> initial_values() {
  const auto values = [](std::vector<std::int64_t> shape, double scale) {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return torch::sin(torch::arange(count, torch::kFloat32) * scale).view(shape) * 0.5;
  };
  return {values({24, 16}, 0.7), values({24}, 1.3), values({24, 24}, 0.9), values({24}, 0.3),
          values({8, 24}, 1.1)};
}

// [5 samples, 16], another for every step, micro-batch and rank.
inline torch::Tensor input_of(int step, int micro_batch, int rank) {
  const double offset = 3.0 * step + 11.0 * micro_batch + 101.0 * rank;
  return torch::cos(torch::arange(80, torch::kFloat32) * 0.37 + offset).view({5, 16});
}

// Parameters after kSteps of plain gradient descent on the batches of all ranks together.
inline std::vector<torch::Tensor> trained_by_one_process(int ranks, int micro_batches,
                                                         bool use_last = true) {
  at::set_num_threads(1);
  SmallModel model(initial_values());
  for (int step = 0; step < kSteps; ++step) {
    for (const tensor::NamedTensor& each : model.parameters) each.tensor.mutable_grad().reset();
    for (int rank = 0; rank < ranks; ++rank) {
      for (int micro = 0; micro < micro_batches; ++micro) {
        const double share = 1.0 / (ranks * micro_batches);
        (model.loss(input_of(step, micro, rank), use_last) * share).backward();
      }
    }
    model.descend();
  }
  std::vector<torch::Tensor> values;
  for (const tensor::NamedTensor& each : model.parameters) values.push_back(each.tensor.detach());
  return values;
}

}  // namespace shardlens::trainer::strategy
