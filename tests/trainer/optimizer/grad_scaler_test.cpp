#include "trainer/optimizer/grad_scaler.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/strategy/fake_strategy.h"

namespace shardlens::trainer::optimizer {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<torch::Tensor> one_parameter(float gradient) {
  auto parameter = torch::ones({3}).set_requires_grad(true);
  parameter.mutable_grad() = torch::full({3}, gradient);
  return {parameter};
}

TEST(GradScaler, DividesTheGradientsByWhatTheLossWasMultipliedWith) {
  GradScaler scaler({.initial_scale = 1024});
  EXPECT_EQ(scaler.scaled(torch::tensor(0.5f)).item<float>(), 512);
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const FakeStrategy strategy(one_parameter(2048));
    scaler.unscale(strategy, communicator);
    EXPECT_EQ(scaler.overflowed().item<float>(), 0);
    EXPECT_EQ(strategy.local_parameters()[0].value.grad()[0].item<float>(), 2);
  });
}

TEST(GradScaler, AllRanksSkipAStepThatOverflowedOnOne) {
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
      GradScaler scaler({.initial_scale = 1024});
      const FakeStrategy overflowed(one_parameter(communicator.rank() == 1 ? bad : 1.0f));
      scaler.unscale(overflowed, communicator);
      EXPECT_EQ(scaler.overflowed().item<float>(), 1) << communicator.rank();
      scaler.update();
      EXPECT_EQ(scaler.scale(), 512);
      EXPECT_EQ(scaler.skipped_steps().item<double>(), 1);
      const FakeStrategy fine(one_parameter(1.0f));
      scaler.unscale(fine, communicator);
      EXPECT_EQ(scaler.overflowed().item<float>(), 0);
      scaler.update();
      EXPECT_EQ(scaler.skipped_steps().item<double>(), 1);
    });
  }
}

TEST(GradScaler, ARankWithoutGradientsTakesPartInTheAgreement) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    GradScaler scaler({});
    const FakeStrategy strategy(communicator.rank() == 0 ? std::vector<torch::Tensor>{}
                                                         : one_parameter(kInfinity));
    scaler.unscale(strategy, communicator);
    EXPECT_EQ(scaler.overflowed().item<float>(), 1);
  });
}

TEST(GradScaler, GrowsAfterAnIntervalWithoutOverflow) {
  comm::on_ranks(1, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    GradScaler scaler({.initial_scale = 8, .growth_interval = 3});
    const auto step = [&](float gradient) {
      scaler.unscale(FakeStrategy(one_parameter(gradient)), communicator);
      scaler.update();
      return scaler.scale();
    };
    EXPECT_EQ(step(1), 8);
    EXPECT_EQ(step(1), 8);
    EXPECT_EQ(step(kInfinity), 4);
    EXPECT_EQ(step(1), 4);
    EXPECT_EQ(step(1), 4);
    EXPECT_EQ(step(1), 8);
  });
}

TEST(GradScaler, DoesNothingWhenOff) {
  GradScaler scaler({.enabled = false});
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    scaler.unscale(FakeStrategy(one_parameter(kInfinity)), communicator);
    scaler.update();
  });
  EXPECT_EQ(scaler.scale(), 1);
  EXPECT_FALSE(scaler.overflowed().defined());
}

}  // namespace
}  // namespace shardlens::trainer::optimizer
