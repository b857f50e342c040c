#include "trainer/model/recompute.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/trainer/strategy/sharded_training.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer {
namespace {

struct Gradients {
  torch::Tensor loss;
  std::map<std::string, torch::Tensor> of;
};

using Prepare = std::function<void(model::DecoderModel&)>;

// One forward and backward with dropout, from the same random numbers.
Gradients gradients(model::ModelLayout layout, const Prepare& prepare,
                    torch::ScalarType type = torch::kFloat32) {
  at::set_num_threads(1);
  const auto model = model::build_model(trained_shape(layout), {0.3, 5, torch::kCPU});
  prepare(*model);
  torch::manual_seed(11);
  Gradients result;
  {
    const tensor::AutocastScope autocast(at::kCPU, type);
    result.loss = loss_of(*model, 0, 0, 0);
  }
  result.loss.backward();
  // What comes after must not have been disturbed either.
  result.of["next random number"] = torch::rand({4});
  for (const auto& each : tensor::named_parameters_of(*model))
    result.of[each.name] = each.tensor.grad();
  return result;
}

void expect_identical(const Gradients& a, const Gradients& b) {
  EXPECT_TRUE(torch::equal(a.loss, b.loss));
  for (const auto& [name, value] : a.of) {
    ASSERT_EQ(value.defined(), b.of.at(name).defined()) << name;
    if (!value.defined()) continue;
    EXPECT_TRUE(torch::equal(value, b.of.at(name))) << name;
  }
}

void nothing(model::DecoderModel&) {}

TEST(Recompute, GivesBitIdenticalGradientsWithDropout) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto plain = gradients(layout, nothing);
    for (const int n : {1, 2}) {
      expect_identical(plain, gradients(layout, [n](model::DecoderModel& model) {
                         model::recompute_every_nth_block(model, n);
                       }));
    }
  }
}

TEST(Recompute, ComputesInTheTypeOfTheFirstForward) {
  const auto all = [](model::DecoderModel& model) { model::recompute_every_nth_block(model, 1); };
  expect_identical(gradients(model::ModelLayout::kGpt2, nothing, torch::kBFloat16),
                   gradients(model::ModelLayout::kGpt2, all, torch::kBFloat16));
}

TEST(Recompute, MayBeNested) {
  expect_identical(gradients(model::ModelLayout::kGpt2, nothing),
                   gradients(model::ModelLayout::kGpt2, [](model::DecoderModel& model) {
                     for (const auto& block : model.blocks()) {
                       for (const auto& child : block->children()) {
                         if (auto* layer = dynamic_cast<model::Layer*>(child.get())) {
                           model::recompute_in_backward(*layer);
                         }
                       }
                       model::recompute_in_backward(*block);
                     }
                   }));
}

TEST(Recompute, TrainsABlockWhoseInputNeedsNoGradient) {
  const auto freeze_embeddings = [](model::DecoderModel& model) {
    for (const auto& each : tensor::named_parameters_of(model)) {
      if (each.name.find("wte") != std::string::npos ||
          each.name.find("wpe") != std::string::npos) {
        torch::Tensor(each.tensor).set_requires_grad(false);
      }
    }
  };
  expect_identical(gradients(model::ModelLayout::kGpt2, freeze_embeddings),
                   gradients(model::ModelLayout::kGpt2, [&](model::DecoderModel& model) {
                     freeze_embeddings(model);
                     model::recompute_every_nth_block(model, 1);
                   }));
}

TEST(Recompute, LeavesOutBlocksThatBackwardDoesNotComeTo) {
  const auto train_the_last_block = [](model::DecoderModel& model) {
    for (const auto& each : tensor::named_parameters_of(model)) {
      torch::Tensor(each.tensor).set_requires_grad(false);
    }
    for (torch::Tensor& each : model.blocks().back()->parameters()) each.set_requires_grad(true);
  };
  expect_identical(gradients(model::ModelLayout::kGpt2, train_the_last_block),
                   gradients(model::ModelLayout::kGpt2, [&](model::DecoderModel& model) {
                     train_the_last_block(model);
                     model::recompute_every_nth_block(model, 1);
                   }));
}

TEST(Recompute, KeepsLess) {
  // Nodes of the graph between the loss and the embeddings hold the activations.
  std::int64_t computed = 0;
  const auto model =
      model::build_model(trained_shape(model::ModelLayout::kGpt2), {0.0, 5, torch::kCPU});
  for (const auto& block : model->blocks()) {
    block->wrap_forward([&](const torch::Tensor& input, const model::Layer::Forward& inner) {
      ++computed;
      const auto output = inner(input);
      EXPECT_EQ(output.requires_grad(), computed > 3) << "the first forward builds no graph";
      return output;
    });
    model::recompute_in_backward(*block);
  }
  loss_of(*model, 0, 0, 0).backward();
  EXPECT_EQ(computed, 6) << "three blocks, each twice";
}

}  // namespace
}  // namespace shardlens::trainer
