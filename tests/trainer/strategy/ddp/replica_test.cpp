// Real model layouts under data-parallel training: as one process that sees all batches.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/trainer/comm/rank_threads.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"

namespace shardlens::trainer {
namespace {

constexpr int kSteps = 3;
constexpr int kRanks = 2;

model::ModelShape small_shape(model::ModelLayout layout) {
  model::ModelShape shape;
  shape.layout = layout;
  shape.layers = 2;
  shape.width = 32;
  shape.heads = 4;
  shape.kv_heads = layout == model::ModelLayout::kGpt2 ? 4 : 2;
  shape.mlp_width = 48;
  shape.vocabulary = 300;
  shape.context = 16;
  shape.tied_head = layout == model::ModelLayout::kGpt2;
  shape.rotary.factor = layout == model::ModelLayout::kGpt2 ? 0 : 8;
  return shape;
}

// [2, 13], another for every step and rank.
torch::Tensor tokens_of(int step, int rank) {
  return (torch::arange(26, torch::kLong) * (7 + step) + 31 * rank).remainder(300).view({2, 13});
}

torch::Tensor replica_loss(model::DecoderModel& model, int step, int rank) {
  const auto tokens = tokens_of(step, rank);
  return model.loss(tokens.slice(1, 0, 12), tokens.slice(1, 1, 13));
}

void descend(const std::vector<tensor::NamedTensor>& parameters) {
  const torch::NoGradGuard no_gradients;
  for (const tensor::NamedTensor& each : parameters) each.tensor.sub_(each.tensor.grad() * 0.1);
}

std::shared_ptr<model::DecoderModel> trained_by_one_process(const model::ModelShape& shape) {
  auto model = model::build_model(shape, {0.0, 5, torch::kCPU});
  const auto parameters = tensor::named_parameters_of(*model);
  for (int step = 0; step < kSteps; ++step) {
    model->zero_grad();
    for (int rank = 0; rank < kRanks; ++rank)
      (replica_loss(*model, step, rank) / kRanks).backward();
    descend(parameters);
  }
  return model;
}

void train_replica(const model::ModelShape& shape, const std::vector<tensor::NamedTensor>& expected,
                   comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
  // Another seed on another rank: rank 0's weights must reach all.
  const auto model = model::build_model(
      shape, {0.0, static_cast<std::uint64_t>(5 + communicator.rank()), torch::kCPU});
  strategy::DataParallelOptions options;
  options.bucket_cap_mb = 0.01;  // several buckets
  strategy::DataParallel replica(tensor::named_parameters_of(*model),
                                 tensor::named_buffers_of(*model), communicator, recorder, options);
  for (int step = 0; step < kSteps; ++step) {
    replica.zero_gradients();
    replica.before_forward();
    const auto loss = replica_loss(*model, step, communicator.rank());
    replica.before_backward(loss);
    loss.backward();
    replica.after_backward();
    descend(replica.parameters());
  }
  EXPECT_GT(replica.bucket_plan().size(), 2u) << "rebuilt after the first step";
  ASSERT_EQ(replica.parameters().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(torch::allclose(replica.parameters()[i].tensor, expected[i].tensor, 1e-5, 1e-6))
        << expected[i].name << " on rank " << communicator.rank();
  }
}

class EveryLayout : public testing::TestWithParam<model::ModelLayout> {};

TEST_P(EveryLayout, TrainsOnTwoRanksAsInOneProcess) {
  at::set_num_threads(1);
  const model::ModelShape shape = small_shape(GetParam());
  const auto one = trained_by_one_process(shape);
  const auto initial =
      tensor::named_parameters_of(*model::build_model(shape, {0.0, 5, torch::kCPU}));
  const auto expected = tensor::named_parameters_of(*one);
  EXPECT_FALSE(torch::allclose(initial[0].tensor, expected[0].tensor)) << "nothing was learnt";
  comm::on_ranks(kRanks,
                 [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
                   train_replica(shape, expected, communicator, recorder);
                 });
}

INSTANTIATE_TEST_SUITE_P(Replica, EveryLayout,
                         testing::Values(model::ModelLayout::kGpt2, model::ModelLayout::kLlama),
                         [](const auto& layout) {
                           return layout.param == model::ModelLayout::kGpt2 ? "Gpt2" : "Llama";
                         });

}  // namespace
}  // namespace shardlens::trainer
