// Real model layouts under data-parallel training: as one process that sees all batches.
#include <gtest/gtest.h>

#include <vector>

#include "tests/trainer/comm/rank_threads.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/ddp/data_parallel.h"

namespace shardlens::trainer {
namespace {

constexpr int kSteps = 3;
constexpr int kRanks = 2;

ModelShape small_shape(ModelLayout layout) {
  ModelShape shape;
  shape.layout = layout;
  shape.layers = 2;
  shape.width = 32;
  shape.heads = 4;
  shape.kv_heads = layout == ModelLayout::kGpt2 ? 4 : 2;
  shape.mlp_width = 48;
  shape.vocabulary = 300;
  shape.context = 16;
  shape.tied_head = layout == ModelLayout::kGpt2;
  shape.rotary.factor = layout == ModelLayout::kGpt2 ? 0 : 8;
  return shape;
}

// [2, 13], another for every step and rank.
torch::Tensor tokens_of(int step, int rank) {
  return (torch::arange(26, torch::kLong) * (7 + step) + 31 * rank).remainder(300).view({2, 13});
}

torch::Tensor loss_of(DecoderModel& model, int step, int rank) {
  const auto tokens = tokens_of(step, rank);
  return model.loss(tokens.slice(1, 0, 12), tokens.slice(1, 1, 13));
}

void descend(const std::vector<NamedTensor>& parameters) {
  const torch::NoGradGuard no_gradients;
  for (const NamedTensor& each : parameters) each.tensor.sub_(each.tensor.grad() * 0.1);
}

std::shared_ptr<DecoderModel> trained_by_one_process(const ModelShape& shape) {
  auto model = build_model(shape, {0.0, 5, torch::kCPU});
  const auto parameters = named_parameters_of(*model);
  for (int step = 0; step < kSteps; ++step) {
    model->zero_grad();
    for (int rank = 0; rank < kRanks; ++rank) (loss_of(*model, step, rank) / kRanks).backward();
    descend(parameters);
  }
  return model;
}

void train_replica(const ModelShape& shape, const std::vector<NamedTensor>& expected,
                   Communicator& communicator, profiler::Recorder& recorder) {
  // Another seed on another rank: rank 0's weights must reach all.
  const auto model =
      build_model(shape, {0.0, static_cast<std::uint64_t>(5 + communicator.rank()), torch::kCPU});
  DataParallelOptions options;
  options.bucket_cap_mb = 0.01;  // several buckets
  DataParallel replica(named_parameters_of(*model), named_buffers_of(*model), communicator,
                       recorder, options);
  for (int step = 0; step < kSteps; ++step) {
    replica.zero_gradients();
    replica.before_forward();
    const auto loss = loss_of(*model, step, communicator.rank());
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

class EveryLayout : public testing::TestWithParam<ModelLayout> {};

TEST_P(EveryLayout, TrainsOnTwoRanksAsInOneProcess) {
  torch::set_num_threads(1);
  const ModelShape shape = small_shape(GetParam());
  const auto one = trained_by_one_process(shape);
  const auto initial = named_parameters_of(*build_model(shape, {0.0, 5, torch::kCPU}));
  const auto expected = named_parameters_of(*one);
  EXPECT_FALSE(torch::allclose(initial[0].tensor, expected[0].tensor)) << "nothing was learnt";
  on_ranks(kRanks, [&](Communicator& communicator, profiler::Recorder& recorder) {
    train_replica(shape, expected, communicator, recorder);
  });
}

INSTANTIATE_TEST_SUITE_P(Replica, EveryLayout,
                         testing::Values(ModelLayout::kGpt2, ModelLayout::kLlama),
                         [](const auto& layout) {
                           return layout.param == ModelLayout::kGpt2 ? "Gpt2" : "Llama";
                         });

}  // namespace
}  // namespace shardlens::trainer
