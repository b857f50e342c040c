// The pieces of the sharding strategies: flat buffers, partitions, unused parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/strategy/sharded_training.h"
#include "trace/job/units/partition.h"
#include "trace/predict/plan/traffic_model.h"
#include "trainer/strategy/fsdp/flat_buffer.h"
#include "trainer/strategy/fsdp/fully_sharded.h"
#include "trainer/strategy/fsdp/sharded_unit.h"
#include "trainer/strategy/fsdp/unit_plan.h"

namespace shardlens::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<model::DecoderModel> model_of(model::ModelLayout layout) {
  return model::build_model(trained_shape(layout), {0.0, 5, torch::kCPU});
}

std::vector<tensor::NamedTensor> two_parameters() {
  return {{"matrix", torch::arange(12, torch::kFloat32).view({3, 4}).set_requires_grad(true)},
          {"bias", (torch::arange(3, torch::kFloat32) + 100).set_requires_grad(true)}};
}

TEST(FlatBuffer, KeepsThisRanksPartAndGivesTheRestBack) {
  const auto parameters = two_parameters();
  strategy::FlatBufferOptions options;
  options.shard_rank = 1;
  options.shard_count = 2;
  strategy::FlatBuffer buffer(parameters, options);
  EXPECT_EQ(buffer.numel(), 16) << "15 values and one of padding";
  EXPECT_EQ(parameters[0].tensor.storage().nbytes(), 0u);
  ASSERT_EQ(buffer.local_parameters().size(), 2u);
  const strategy::LocalParameter& matrix = buffer.local_parameters()[0];
  EXPECT_EQ(matrix.begin, 8);
  EXPECT_EQ(matrix.end, 12);
  EXPECT_TRUE(torch::equal(matrix.value, torch::tensor({8.f, 9.f, 10.f, 11.f})));
  EXPECT_TRUE(
      torch::equal(buffer.local_parameters()[1].value, torch::tensor({100.f, 101.f, 102.f})));

  const auto part = buffer.allocate();
  EXPECT_EQ(part.numel(), 8);
  buffer.whole().copy_(torch::arange(16, torch::kFloat32));
  EXPECT_EQ(parameters[0].tensor[2][3].item<float>(), 11);
  EXPECT_EQ(parameters[1].tensor[0].item<float>(), 12);
  buffer.release();
  EXPECT_EQ(parameters[0].tensor.storage().nbytes(), 0u);
}

TEST(FlatBuffer, TakesGradientsWithZerosForThoseThatAreMissing) {
  const auto parameters = two_parameters();
  strategy::FlatBufferOptions options;
  options.shard_count = 4;
  strategy::FlatBuffer buffer(parameters, options);
  parameters[1].tensor.mutable_grad() = torch::ones({3});
  const auto flat = buffer.take_gradients(0.5);
  EXPECT_EQ(flat.sum().item<float>(), 1.5f);
  EXPECT_TRUE(torch::equal(flat.narrow(0, 12, 3), torch::full({3}, 0.5f)));
  EXPECT_FALSE(parameters[1].tensor.grad().defined()) << "taken away";
  EXPECT_THAT(buffer.take_used(), ElementsAre(0.0f, 1.0f));
}

// As fully_shard: a third in bf16 would be off by 0.2 % before anything was summed.
TEST(FlatBuffer, DividesGradientsInTheTypeOfTheReduction) {
  const auto parameters = two_parameters();
  strategy::FlatBufferOptions options;
  options.param_dtype = torch::kBFloat16;
  strategy::FlatBuffer buffer(parameters, options);
  parameters[1].tensor.mutable_grad() = torch::ones({3}, torch::kBFloat16);
  const auto flat = buffer.take_gradients(1.0 / 3);
  EXPECT_TRUE(torch::equal(flat.narrow(0, 12, 3), torch::full({3}, 1.0f / 3)));
}

// Of 1, 2, 3, … in bf16, whose sums beyond 256 would lose what is added.
TEST(FlatBuffer, AddsUpGradientsOfMicroBatchesInTheTypeOfTheReduction) {
  const auto parameters = two_parameters();
  strategy::FlatBufferOptions options;
  options.param_dtype = torch::kBFloat16;
  strategy::FlatBuffer buffer(parameters, options);
  const auto make_gradient = [&](int which, float value) {
    const torch::Tensor& parameter = parameters[static_cast<std::size_t>(which)].tensor;
    parameter.mutable_grad() = torch::full_like(parameter, value);
  };
  buffer.allocate();
  for (int i = 0; i < 512; ++i) {
    make_gradient(1, 1);
    buffer.accumulate_gradients();
    EXPECT_FALSE(parameters[1].tensor.grad().defined()) << "taken away";
  }
  make_gradient(0, 3);
  const auto flat = buffer.take_gradients(0.5);
  EXPECT_TRUE(torch::equal(flat.narrow(0, 0, 12), torch::full({12}, 1.5f)));
  EXPECT_TRUE(torch::equal(flat.narrow(0, 12, 3), torch::full({3}, 256.0f)));
  EXPECT_THAT(buffer.take_used(), ElementsAre(1.0f, 1.0f));

  make_gradient(1, 7);
  EXPECT_EQ(buffer.take_gradients(1).sum().item<float>(), 21)
      << "nothing is left of the step before";
}

TEST(FlatBuffer, LeavesAddingToAutogradWhereGradientsAreReducedInTheirOwnType) {
  const auto parameters = two_parameters();
  strategy::FlatBuffer buffer(parameters, {});
  parameters[1].tensor.mutable_grad() = torch::ones({3});
  buffer.accumulate_gradients();
  EXPECT_TRUE(parameters[1].tensor.grad().defined());
}

TEST(FlatBuffer, RefusesToBeEmpty) {
  EXPECT_THAT(comm::message_thrown_by([] { strategy::FlatBuffer({}, {}); }),
              HasSubstr("at least one parameter"));
}

TEST(Partition, GivesTheLargestFirstToTheRankWithLeast) {
  const std::vector<std::int64_t> numels{10, 70, 20, 50, 30};
  EXPECT_THAT(trace::job::partition_parameters(numels, 2), ElementsAre(1, 0, 0, 1, 1));
}

TEST(Partition, CutsAnOwnersParametersIntoParts) {
  const std::vector<std::int64_t> numels{10, 70, 20, 50, 30};
  const std::vector<int> owners{0, 0, 1, 0, 0};
  EXPECT_THAT(trace::job::parts_of_owner(numels, owners, 0, 60),
              ElementsAre(ElementsAre(0u, 1u), ElementsAre(3u, 4u)));
}

// y = x + tanh(x · weight), beside a parameter that only some steps use, and only on rank 1.
struct Spare : model::Layer {
  explicit Spare(const bool& uses_spare) : uses(uses_spare) {
    weight = register_parameter("weight", torch::full({4, 4}, 0.1f));
    spare = register_parameter("spare", torch::full({4}, 0.2f));
  }
  torch::Tensor compute(const torch::Tensor& x) override {
    const auto y = x + torch::tanh(x.matmul(weight));
    return uses ? y * spare : y;
  }
  const bool& uses;
  torch::Tensor weight, spare;
};

struct SpareModel : model::Model {
  SpareModel() {
    input = register_parameter("input", torch::arange(20, torch::kFloat32).view({5, 4}) * 0.1);
    for (int i = 0; i < 2; ++i) {
      layers.push_back(register_module(std::to_string(i), std::make_shared<Spare>(uses)));
    }
  }
  torch::Tensor loss(const model::TokenBatch& batch, double divisor,
                     const std::optional<model::ChunkedLossOptions>&) override {
    auto x = at::embedding(input, batch.inputs);
    for (const auto& layer : layers) x = layer->forward(x);
    return at::cross_entropy_loss(x.flatten(0, 1), batch.targets.flatten(), {},
                                  at::Reduction::Sum) /
           divisor;
  }
  torch::Tensor score(const model::TokenBatch&,
                      const std::optional<model::ChunkedLossOptions>&) override {
    return {};
  }
  std::vector<std::shared_ptr<model::Layer>> blocks() const override {
    return {layers.begin(), layers.end()};
  }
  bool uses = false;
  torch::Tensor input;
  std::vector<std::shared_ptr<Spare>> layers;
};

// Whether the spare parameter is used in a step on a rank: never in step 0.
bool uses_spare(int step, int rank) { return step > 0 && rank == 1; }

torch::Tensor spare_loss(SpareModel& model, int step, int rank) {
  model.uses = uses_spare(step, rank);
  const auto tokens = (torch::arange(6, torch::kLong) + step + rank).remainder(4).view({2, 3});
  model::TokenBatch batch;
  batch.inputs = batch.targets = tokens;
  return model.loss(batch, 6.0, {});
}

TEST(FullySharded, AParameterWithoutGradientOnAllRanksIsLeftAlone) {
  trace::job::Settings settings;
  settings.weight_decay = 0;
  const auto one = std::make_shared<SpareModel>();
  std::vector<torch::Tensor> values;
  for (const auto& each : tensor::named_parameters_of(*one)) values.push_back(each.tensor);
  FakeStrategy alone(values);
  const auto optimizer = optimizer::build_optimizer(alone.local_parameters(), settings);
  for (int step = 0; step < 3; ++step) {
    for (const int rank : {0, 1}) (spare_loss(*one, step, rank) / 2).backward();
    optimizer->step(alone.all(), kRate);
    one->zero_grad();
    if (step == 0) {
      // AdamW with momentum would move it later by other amounts had it counted this step.
      EXPECT_EQ(optimizer->state_of(2).steps.item<float>(), 0);
    }
  }
  std::map<std::string, torch::Tensor> expected;
  for (const auto& each : tensor::named_parameters_of(*one))
    expected[each.name] = each.tensor.detach();

  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const auto model = std::make_shared<SpareModel>();
    strategy::FullyShardedOptions options;
    options.shard_group_size = 2;
    strategy::FullySharded sharded(*model, communicator, recorder, options);
    const auto ours = optimizer::build_optimizer(sharded.local_parameters(), settings);
    for (int step = 0; step < 3; ++step) {
      sharded.before_forward();
      const auto loss = spare_loss(*model, step, communicator.rank());
      sharded.before_backward(loss);
      loss.backward();
      sharded.after_backward();
      optimizer::clip_gradients(sharded, 0);
      sharded.update([&](auto indices) { ours->step(indices, kRate); });
      sharded.zero_gradients();
    }
    for (const strategy::LocalParameter& part : sharded.local_parameters()) {
      const auto whole = expected.at(part.name).flatten().slice(0, part.begin, part.end);
      EXPECT_TRUE(torch::allclose(part.value, whole, 1e-5, 1e-7)) << part.name;
    }
  });
}

// Blocks gathered in another type than their shard's, so that they are copies.
strategy::ShardedUnit gathered_block(model::Model& model, const strategy::ShardStreams& streams) {
  strategy::FlatBufferOptions options;
  options.param_dtype = torch::kBFloat16;
  const auto plan = strategy::plan_units(model, trace::job::WrapPolicy::kTransformerBlock, 0).at(1);
  strategy::ShardedUnit unit(1, plan, options, nullptr);
  unit.gather(nullptr, streams, "forward gather");
  unit.wait();
  return unit;
}

TEST(ShardedUnit, IsNotUsedWithWeightsFromBeforeAnUpdate) {
  const auto model = model_of(model::ModelLayout::kGpt2);
  const strategy::ShardStreams streams(torch::kCPU, false);
  strategy::ShardedUnit unit = gathered_block(*model, streams);
  unit.buffers().front().shard_was_updated();
  EXPECT_THAT(comm::message_thrown_by([&] { unit.wait(); }),
              HasSubstr("unit blocks.0 would be used with weights from before the last update"));
  unit.release();
  unit.gather(nullptr, streams, "forward gather");
  EXPECT_EQ(comm::message_thrown_by([&] { unit.wait(); }), "");
}

TEST(ShardedUnit, NoticesAnyWriteToItsShard) {
  const auto model = model_of(model::ModelLayout::kGpt2);
  const strategy::ShardStreams streams(torch::kCPU, false);
  strategy::ShardedUnit unit = gathered_block(*model, streams);
  const torch::NoGradGuard no_grad;
  unit.buffers().front().local_parameters().back().value.mul_(2);
  EXPECT_THAT(comm::message_thrown_by([&] { unit.wait(); }), HasSubstr("unit blocks.0"));
}

// S of nccl-tests, of the second step.
std::int64_t gathered_bytes(const comm::Recording& rank) {
  std::int64_t bytes = 0;
  for (const trace::model::Collective& row : rank.rows.collectives) {
    const bool is_gather = row.function == trace::model::CollectiveFunction::kAllGather;
    if (is_gather && row.step == 1) bytes += row.bytes;
  }
  return bytes;
}

std::int64_t predicted_bytes(const Training& training) {
  const trace::predict::PlannedJob job{training.settings, trained_shape(training.layout),
                                       training.ranks, training.ranks, false};
  std::int64_t bytes = 0;
  for (const auto& term : trace::predict::predict_traffic(job).terms) {
    const bool is_gather = term.function == trace::model::CollectiveFunction::kAllGather;
    if (is_gather) bytes += 2 * term.bytes;  // of two ranks each sends half
  }
  return bytes;
}

// Backward comes neither to what lies in front of the first adapter nor to what stands beside it.
TEST(FullySharded, GathersWhatIsPredictedBesideAdapters) {
  const std::pair<model::ModelLayout, const char*> adapted[] = {
      {model::ModelLayout::kGpt2, "auto"},
      {model::ModelLayout::kGpt2, "mlp.c_proj"},
      {model::ModelLayout::kLlama, "auto"},
      {model::ModelLayout::kLlama, "gate_proj"}};
  for (const auto& [layout, targets] : adapted) {
    for (const std::int64_t recompute : {0, 1, 2}) {
      Training training;
      training.layout = layout;
      training.steps = 2;
      training.settings.sharding_strategy = trace::job::Strategy::kFullShard;
      training.settings.wrap_policy = trace::job::WrapPolicy::kSize;
      training.settings.min_num_params = 1;
      training.settings.activation_checkpointing = recompute;
      training.settings.lora_rank = 4;
      training.settings.lora_target_modules = targets;
      const auto recordings = comm::on_ranks(
          training.ranks,
          [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
            train_rank(training, communicator, recorder, [](strategy::Strategy&) {});
          });
      EXPECT_EQ(gathered_bytes(recordings.at(0)), predicted_bytes(training))
          << static_cast<int>(layout) << " " << targets << ", every " << recompute;
    }
  }
}

TEST(FullySharded, AUnitThatOutlivesAnUpdateEndsTheRun) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const auto model = model_of(model::ModelLayout::kGpt2);
    strategy::FullyShardedOptions options;
    options.shard_group_size = 2;
    strategy::FullySharded sharded(*model, communicator, recorder, options);
    for (const auto optimizer :
         {trace::job::OptimizerChoice::kAdamW, trace::job::OptimizerChoice::kSgd}) {
      trace::job::Settings settings;
      settings.optimizer = optimizer;
      const auto ours = optimizer::build_optimizer(sharded.local_parameters(), settings);
      sharded.before_forward();  // gathers the root, which no backward frees
      sharded.update([&](auto indices) { ours->step(indices, kRate); });
      EXPECT_THAT(comm::message_thrown_by([&] { sharded.before_forward(); }),
                  HasSubstr("unit root"))
          << (optimizer == trace::job::OptimizerChoice::kSgd ? "sgd" : "adamw");
      sharded.after_evaluation();
    }
  });
}

TEST(FullySharded, KeepsBuffersInTheirType) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const auto model = model_of(model::ModelLayout::kLlama);
    strategy::FullyShardedOptions options;
    options.shard_group_size = 2;
    options.buffer_dtype = torch::kBFloat16;
    const strategy::FullySharded sharded(*model, communicator, recorder, options);
    const auto buffers = tensor::named_buffers_of(*model);
    ASSERT_EQ(buffers.size(), 1u);
    EXPECT_EQ(buffers[0].name, "model.rotary_emb.inv_freq");
    EXPECT_EQ(buffers[0].tensor.scalar_type(), torch::kBFloat16);
  });
}

TEST(FullySharded, RefusesAGroupThatDoesNotDivideTheRanks) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const auto model = model_of(model::ModelLayout::kGpt2);
    strategy::FullyShardedOptions options;
    options.shard_group_size = 3;
    EXPECT_THAT(comm::message_thrown_by(
                    [&] { strategy::FullySharded(*model, communicator, recorder, options); }),
                HasSubstr("does not divide 2 ranks"));
  });
}

TEST(FullySharded, RecordsItsUnitsAndWhenTheirGradientsWereReady) {
  Training training;
  training.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  training.settings.max_grad_norm = 0;
  training.of_each_value = 2e-3;
  const auto recordings = expect_equal_to_one_process(training);
  for (const comm::Recording& rank : recordings) {
    ASSERT_EQ(rank.rows.units.size(), 4u);
    EXPECT_EQ(rank.text(rank.rows.units[1].name), "blocks.0");
    std::int64_t parameters = 0;
    for (const auto& row : rank.rows.unit_parameters) parameters += row.unit == 1 ? row.bytes : 0;
    EXPECT_EQ(parameters, 3502 * 4);
    EXPECT_EQ(rank.rows.units[1].shard_bytes * 2, rank.rows.units[1].bytes);
    EXPECT_EQ(rank.rows.unit_ready.size(), 4u * static_cast<unsigned>(training.steps));
    // In a step units become ready from the last block to the root.
    std::vector<int> order;
    for (const auto& row : rank.rows.unit_ready) {
      if (row.step == 1) order.push_back(row.unit);
    }
    EXPECT_THAT(order, ElementsAre(3, 2, 1, 0));
  }
}

}  // namespace
}  // namespace shardlens::trainer
