#include "trainer/grad_scaler.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/fake_strategy.h"

namespace shardlens::trainer {
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
  on_ranks(1, [&](Communicator& communicator, profiler::Recorder&) {
    const FakeStrategy strategy(one_parameter(2048));
    EXPECT_TRUE(scaler.unscale(strategy, communicator));
    EXPECT_EQ(strategy.local_parameters()[0].value.grad()[0].item<float>(), 2);
  });
}

TEST(GradScaler, AllRanksSkipAStepThatOverflowedOnOne) {
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    on_ranks(2, [&](Communicator& communicator, profiler::Recorder&) {
      GradScaler scaler({.initial_scale = 1024});
      const FakeStrategy overflowed(one_parameter(communicator.rank() == 1 ? bad : 1.0f));
      EXPECT_FALSE(scaler.unscale(overflowed, communicator)) << communicator.rank();
      scaler.update(false);
      EXPECT_EQ(scaler.scale(), 512);
      const FakeStrategy fine(one_parameter(1.0f));
      EXPECT_TRUE(scaler.unscale(fine, communicator));
    });
  }
}

TEST(GradScaler, ARankWithoutGradientsTakesPartInTheAgreement) {
  on_ranks(2, [](Communicator& communicator, profiler::Recorder&) {
    GradScaler scaler({});
    const FakeStrategy strategy(communicator.rank() == 0 ? std::vector<torch::Tensor>{}
                                                         : one_parameter(kInfinity));
    EXPECT_FALSE(scaler.unscale(strategy, communicator));
  });
}

TEST(GradScaler, GrowsAfterAnIntervalWithoutOverflow) {
  GradScaler scaler({.initial_scale = 8, .growth_interval = 3});
  scaler.update(true);
  scaler.update(true);
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 4);
  scaler.update(true);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 4);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(GradScaler, DoesNothingWhenOff) {
  GradScaler scaler({.enabled = false});
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 1);
  on_ranks(1, [&](Communicator& communicator, profiler::Recorder&) {
    EXPECT_TRUE(scaler.unscale(FakeStrategy(one_parameter(kInfinity)), communicator));
  });
}

}  // namespace
}  // namespace shardlens::trainer
