#include "trainer/optimizer/optimizer.h"

#include <gtest/gtest.h>
#include <torch/nn.h>
#include <torch/optim.h>

#include <array>
#include <cmath>

#include "tests/trainer/strategy/fake_strategy.h"
#include "trainer/optimizer/learning_rate.h"

namespace shardlens::trainer::optimizer {
namespace {

std::vector<torch::Tensor> parameters_with_gradients(std::uint64_t seed) {
  torch::manual_seed(seed);
  std::vector<torch::Tensor> parameters{torch::randn({5, 7}), torch::randn({7})};
  for (auto& parameter : parameters) parameter.requires_grad_();
  return parameters;
}

void set_gradients(const std::vector<torch::Tensor>& parameters, std::uint64_t seed) {
  torch::manual_seed(seed);
  for (const auto& parameter : parameters) parameter.mutable_grad() = torch::randn_like(parameter);
}

TEST(AdamW, FollowsPyTorchsAndDecaysOnlyMatrices) {
  const auto ours = parameters_with_gradients(1);
  const auto theirs = parameters_with_gradients(1);
  const FakeStrategy strategy(ours);
  AdamW optimizer(strategy.local_parameters(), {0.8, 0.95, 1e-6, 0.1});
  auto options = [](double decay) {
    auto result = std::make_unique<torch::optim::AdamWOptions>(0.01);
    result->betas({0.8, 0.95}).eps(1e-6).weight_decay(decay);
    return result;
  };
  torch::optim::AdamW reference({torch::optim::OptimizerParamGroup({theirs[0]}, options(0.1)),
                                 torch::optim::OptimizerParamGroup({theirs[1]}, options(0.0))},
                                torch::optim::AdamWOptions(0.01));
  for (std::uint64_t step = 0; step < 10; ++step) {
    set_gradients(ours, 100 + step);
    set_gradients(theirs, 100 + step);
    optimizer.step(strategy.all(), 0.01);
    reference.step();
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << i;
  }
}

TEST(AdamW, LeavesParametersWithoutGradientAlone) {
  const auto parameters = parameters_with_gradients(1);
  const auto before = parameters[1].detach().clone();
  const FakeStrategy strategy(parameters);
  AdamW optimizer(strategy.local_parameters(), {});
  set_gradients(parameters, 2);
  parameters[1].mutable_grad() = torch::Tensor();
  const auto moved = parameters[0].detach().clone();
  optimizer.step(strategy.all(), 0.01);
  EXPECT_TRUE(torch::equal(parameters[1], before));
  EXPECT_FALSE(torch::equal(parameters[0], moved));
}

TEST(AdamW, UpdatesOnlyWhatItIsAskedTo) {
  const auto parameters = parameters_with_gradients(1);
  const auto before = parameters[0].detach().clone();
  const FakeStrategy strategy(parameters);
  AdamW optimizer(strategy.local_parameters(), {});
  set_gradients(parameters, 2);
  optimizer.step(std::array<std::size_t, 1>{1}, 0.01);
  EXPECT_TRUE(torch::equal(parameters[0], before));
  EXPECT_EQ(optimizer.state_of(1).steps.item<float>(), 1);
  EXPECT_EQ(optimizer.state_of(0).steps.item<float>(), 0);
}

// As if the step had not been: what overflowed may hold anything.
TEST(Optimizers, ChangeNothingWhereTheDeviceSaysSkip) {
  for (const bool adamw : {true, false}) {
    const auto parameters = parameters_with_gradients(1);
    const auto untouched = parameters_with_gradients(1);
    const FakeStrategy strategy(parameters), reference(untouched);
    trace::job::Settings settings;
    settings.optimizer =
        adamw ? trace::job::OptimizerChoice::kAdamW : trace::job::OptimizerChoice::kSgd;
    const auto optimizer = build_optimizer(strategy.local_parameters(), settings);
    const auto other = build_optimizer(reference.local_parameters(), settings);
    for (const int step : {0, 1, 2}) {
      set_gradients(parameters, 100 + static_cast<std::uint64_t>(step));
      set_gradients(untouched, 100 + static_cast<std::uint64_t>(step));
      const bool skips = step == 1;
      if (skips) parameters[0].mutable_grad().fill_(std::nan(""));
      optimizer->step(strategy.all(), 0.01, torch::tensor(skips ? 1.0f : 0.0f));
      if (!skips) other->step(reference.all(), 0.01);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(torch::allclose(parameters[i], untouched[i], 1e-6, 1e-7))
          << (adamw ? "adamw" : "sgd");
    }
    if (!adamw) continue;
    EXPECT_EQ(optimizer->state_of(0).steps.item<float>(), 2);
  }
}

TEST(Sgd, FollowsPyTorchsAndDecaysOnlyMatrices) {
  const auto ours = parameters_with_gradients(1);
  const auto theirs = parameters_with_gradients(1);
  const FakeStrategy strategy(ours);
  Sgd optimizer(strategy.local_parameters(), 0.1);
  torch::optim::SGD decayed({theirs[0]}, torch::optim::SGDOptions(0.01).weight_decay(0.1));
  torch::optim::SGD plain({theirs[1]}, torch::optim::SGDOptions(0.01));
  for (std::uint64_t step = 0; step < 10; ++step) {
    set_gradients(ours, 100 + step);
    set_gradients(theirs, 100 + step);
    optimizer.step(strategy.all(), 0.01);
    decayed.step();
    plain.step();
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(torch::allclose(ours[i], theirs[i], 1e-5, 1e-6)) << i;
  }
}

TEST(ClipGradients, FollowsPyTorchs) {
  for (const double limit : {0.5, 100.0}) {
    const auto ours = parameters_with_gradients(1);
    const auto theirs = parameters_with_gradients(1);
    set_gradients(ours, 2);
    set_gradients(theirs, 2);
    FakeStrategy strategy(ours);
    const double norm = clip_gradients(strategy, limit).item<double>();
    EXPECT_NEAR(norm, torch::nn::utils::clip_grad_norm_(theirs, limit), 1e-4);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_TRUE(torch::allclose(ours[i].grad(), theirs[i].grad())) << limit;
    }
  }
}

TEST(ClipGradients, OnlyMeasuresWithoutALimit) {
  const auto parameters = parameters_with_gradients(1);
  set_gradients(parameters, 2);
  const auto before = parameters[0].grad().clone();
  FakeStrategy strategy(parameters);
  EXPECT_GT(clip_gradients(strategy, 0).item<double>(), 1);
  EXPECT_TRUE(torch::equal(parameters[0].grad(), before));
}

TEST(LearningRate, RisesFromZeroAndThenFollowsItsSchedule) {
  trace::job::Settings settings;
  settings.learning_rate = 2;
  settings.warmup_steps = 4;
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 0, 12), 0);
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 2, 12), 1);
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 4, 12), 2);
  settings.lr_schedule = trace::job::LrSchedule::kCosine;
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 8, 12), 1);
  EXPECT_NEAR(learning_rate_at(settings, 6, 12), 1 + std::sqrt(0.5), 1e-12);
  settings.lr_schedule = trace::job::LrSchedule::kLinear;
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 6, 12), 1.5);
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 12, 12), 0);
  settings.lr_schedule = trace::job::LrSchedule::kConstant;
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 11, 12), 2);
}

TEST(LearningRate, IsItsPeakFromTheStartWithoutWarmUp) {
  trace::job::Settings settings;
  EXPECT_DOUBLE_EQ(learning_rate_at(settings, 0, 1), settings.learning_rate);
}

// What the table of knobs says of schedules.
TEST(LearningRate, FollowsAKnobWithJustTheSchedulesThatObeyIt) {
  const trace::job::Knob& schedule = *trace::job::find_knob("lr_schedule");
  const auto rates = [](const trace::job::Settings& settings) {
    std::vector<double> all;
    for (int step = 0; step <= 40; ++step) all.push_back(learning_rate_at(settings, step, 40));
    return all;
  };
  for (const char* assignment :
       {"lr_decay_steps=7", "lr_min_ratio=0.3", "lr_cycles=1.7", "lr_power=3"}) {
    const std::string_view name =
        std::string_view(assignment).substr(0, std::string_view(assignment).find('='));
    for (const std::string_view choice : schedule.choices) {
      trace::job::Settings plain;
      ASSERT_TRUE(trace::job::set_value(plain, "lr_schedule", choice));
      trace::job::Settings changed = plain;
      ASSERT_TRUE(trace::job::set_assignment(changed, assignment));
      EXPECT_EQ(rates(plain) != rates(changed),
                trace::job::ignored_with(*trace::job::find_knob(name), plain).empty())
          << assignment << " with " << choice;
    }
  }
}

}  // namespace
}  // namespace shardlens::trainer::optimizer
