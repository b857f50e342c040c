// Trains a small model with any strategy on threads as ranks, and the same in one process: what
// every strategy must equal. For tests.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/strategy/fake_strategy.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/rank/build_strategy.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer {

inline constexpr double kRate = 0.01;

struct Training {
  std::string name;
  model::ModelLayout layout = model::ModelLayout::kGpt2;
  int ranks = 2;
  int steps = 4;
  int micro_batches = 1;
  bool sync_each = false;
  trace::job::Settings settings;  // strategy, precision, optimizer, clipping, recomputation, …
  double relative = 1e-5;         // tolerance of losses, and of each tensor by its norm
  // AdamW makes steps of full size from small gradients, rounding included: then each value may be
  // off by this share of the learning rate times the number of steps.
  double of_each_value = 0;
};

inline void PrintTo(const Training& training, std::ostream* out) { *out << training.name; }

inline model::ModelShape trained_shape(model::ModelLayout layout) {
  model::ModelShape shape;
  shape.layout = layout;
  shape.layers = 3;
  shape.width = 20;  // with 4 ranks some units need padding
  shape.heads = 2;
  shape.kv_heads = layout == model::ModelLayout::kGpt2 ? 2 : 1;
  shape.mlp_width = 42;
  shape.vocabulary = 301;
  shape.context = 16;
  shape.tied_head = layout == model::ModelLayout::kGpt2;
  return shape;
}

// [2, 13], another for every step, micro-batch and rank.
inline torch::Tensor tokens_of(int step, int micro_batch, int rank) {
  return (torch::arange(26, torch::kLong) * (7 + step) + 31 * rank + 113 * micro_batch)
      .remainder(301)
      .view({2, 13});
}

inline torch::Tensor loss_of(model::DecoderModel& model, int step, int micro_batch, int rank) {
  const auto tokens = tokens_of(step, micro_batch, rank);
  return model.loss(tokens.slice(1, 0, 12), tokens.slice(1, 1, 13));
}

inline std::shared_ptr<model::DecoderModel> initial_model(const Training& training) {
  auto model = model::build_model(trained_shape(training.layout), {0.0, 5, torch::kCPU});
  const auto chosen = lora::choose_trained_part(*model, training.settings);
  EXPECT_TRUE(chosen) << chosen.error().message;
  return model;
}

struct Trained {
  std::map<std::string, torch::Tensor> parameters;
  std::vector<double> losses, norms;
};

inline Trained train_in_one_process(const Training& training) {
  at::set_num_threads(1);
  const auto model = initial_model(training);
  const auto named = tensor::named_parameters_of(*model);
  std::vector<torch::Tensor> trained;
  for (const auto& each : named) {
    if (each.tensor.requires_grad()) trained.push_back(each.tensor);
  }
  FakeStrategy strategy(trained);
  const auto optimizer = optimizer::build_optimizer(strategy.local_parameters(), training.settings);
  Trained result;
  for (int step = 0; step < training.steps; ++step) {
    double sum = 0;
    const double share = 1.0 / (training.ranks * training.micro_batches);
    for (int rank = 0; rank < training.ranks; ++rank) {
      for (int micro = 0; micro < training.micro_batches; ++micro) {
        const auto loss = loss_of(*model, step, micro, rank) * share;
        loss.backward();
        sum += loss.item<double>();
      }
    }
    result.losses.push_back(sum);
    result.norms.push_back(
        optimizer::clip_gradients(strategy, training.settings.max_grad_norm).item<double>());
    optimizer->step(strategy.all(), kRate);
    model->zero_grad();
  }
  for (const auto& each : named) result.parameters[each.name] = each.tensor.detach();
  return result;
}

// One rank's training. Returns its mean loss per step and the gradients' norms; `inspect` sees the
// strategy at the end.
inline Trained train_rank(const Training& training, comm::Communicator& communicator,
                          profiler::recorder::Recorder& recorder,
                          const std::function<void(strategy::Strategy&)>& inspect) {
  const auto model = initial_model(training);
  model::recompute_every_nth_block(*model, training.settings.activation_checkpointing);
  const auto strategy =
      rank::build_strategy(training.settings, *model, communicator, recorder, training.ranks);
  const auto optimizer =
      optimizer::build_optimizer(strategy->local_parameters(), training.settings);
  Trained result;
  for (int step = 0; step < training.steps; ++step) {
    recorder.begin_step(step);
    double sum = 0;
    for (int micro = 0; micro < training.micro_batches; ++micro) {
      strategy->set_require_sync(training.sync_each || micro + 1 == training.micro_batches);
      strategy->before_forward();
      const auto loss = loss_of(*model, step, micro, communicator.rank()) / training.micro_batches;
      strategy->before_backward(loss);
      loss.backward();
      strategy->after_backward();
      sum += loss.item<double>();
    }
    result.losses.push_back(sum);
    result.norms.push_back(
        optimizer::clip_gradients(*strategy, training.settings.max_grad_norm).item<double>());
    strategy->update([&](auto indices) { optimizer->step(indices, kRate); });
    strategy->zero_gradients();
    recorder.end_step({});
  }
  inspect(*strategy);
  return result;
}

inline void expect_equal(const strategy::LocalParameter& part, const torch::Tensor& whole,
                         const Training& training, int rank) {
  const auto expected = whole.flatten().slice(0, part.begin, part.end);
  // Bytes, too, which wrap around.
  auto difference = part.value.detach().flatten().to(torch::kFloat64) - expected;
  if (training.of_each_value > 0) {
    // Attention does not depend on the keys' bias: its gradient is rounding alone.
    if (part.name.ends_with("c_attn.bias")) {
      const auto position = torch::arange(part.begin, part.end).div(whole.numel() / 3, "floor");
      difference = difference * (position != 1);
    }
    EXPECT_LE(difference.abs().max().item<double>(),
              training.of_each_value * kRate * training.steps)
        << part.name << " on rank " << rank;
  } else {
    EXPECT_LE(difference.norm().item<double>(),
              training.relative * whole.to(torch::kFloat64).norm().item<double>() + 1e-9)
        << part.name << " on rank " << rank;
  }
}

// Trains on all ranks and expects losses, norms and every part of every parameter to be as in one
// process. Every element must be somewhere. Returns what was recorded.
inline std::vector<comm::Recording> expect_equal_to_one_process(const Training& training) {
  const Trained expected = train_in_one_process(training);
  std::vector<Trained> ranks(static_cast<std::size_t>(training.ranks));
  std::vector<std::map<std::string, std::int64_t>> primary(ranks.size());
  auto recordings = comm::on_ranks(training.ranks, [&](comm::Communicator& communicator,
                                                       profiler::recorder::Recorder& recorder) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    ranks[rank] = train_rank(training, communicator, recorder, [&](strategy::Strategy& strategy) {
      for (const strategy::LocalParameter& part : strategy.local_parameters()) {
        expect_equal(part, expected.parameters.at(part.name), training, communicator.rank());
        if (part.is_primary) primary[rank][part.name] += part.end - part.begin;
      }
    });
  });
  std::map<std::string, std::int64_t> held;
  for (const auto& rank : primary) {
    for (const auto& [name, count] : rank) held[name] += count;
  }
  for (const auto& [name, whole] : expected.parameters)
    EXPECT_EQ(held[name], whole.numel()) << name;
  for (int step = 0; step < training.steps; ++step) {
    const auto s = static_cast<std::size_t>(step);
    double loss = 0;
    for (const Trained& rank : ranks) {
      loss += rank.losses[s] / training.ranks;
      EXPECT_NEAR(rank.norms[s] / expected.norms[s], 1, 100 * training.relative) << step;
    }
    EXPECT_NEAR(loss / expected.losses[s], 1, training.relative) << step;
  }
  return recordings;
}

}  // namespace shardlens::trainer
