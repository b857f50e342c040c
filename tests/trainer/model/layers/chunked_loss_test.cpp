#include "trainer/model/layers/chunked_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer {
namespace {

constexpr std::int64_t kTokens = 37, kWidth = 12, kVocabulary = 29;

struct Problem {
  torch::Tensor hidden, weight, targets;
};

Problem random_problem(torch::ScalarType type) {
  torch::manual_seed(7);
  Problem problem;
  problem.hidden = torch::randn({kTokens, kWidth}, torch::kFloat64).to(type).requires_grad_();
  problem.weight = torch::randn({kVocabulary, kWidth}, torch::kFloat64).to(type).requires_grad_();
  problem.targets = torch::randint(kVocabulary, {kTokens}, torch::kLong);
  problem.targets[3] = model::kIgnoredTarget;
  problem.targets[36] = model::kIgnoredTarget;
  return problem;
}

using Loss = std::function<torch::Tensor(const Problem&)>;

// PyTorch's own operators, with the softmax in at least fp32.
torch::Tensor plain_loss(const Problem& problem) {
  const torch::Tensor logits = at::linear(problem.hidden, problem.weight);
  return at::cross_entropy_loss(logits.to(at::promote_types(logits.scalar_type(), torch::kFloat32)),
                                problem.targets);
}

Loss chunked_loss(std::int64_t chunk, torch::Tensor loss_scale = {}) {
  return [=](const Problem& problem) {
    const auto counted = problem.targets.ne(model::kIgnoredTarget).sum().item<double>();
    return model::chunked_cross_entropy(problem.hidden, problem.weight, problem.targets, counted,
                                        {chunk, loss_scale});
  };
}

struct Outcome {
  torch::Tensor loss, of_hidden, of_weight;
};

Outcome outcome_of(const Loss& loss, torch::ScalarType type, double factor = 1) {
  const Problem problem = random_problem(type);
  const torch::Tensor value = loss(problem);
  (value * factor).backward();
  return {value.detach(), problem.hidden.grad(), problem.weight.grad()};
}

void expect_close(const Outcome& ours, const Outcome& theirs, double tolerance) {
  const auto close = [&](const torch::Tensor& a, const torch::Tensor& b) {
    ASSERT_EQ(a.scalar_type(), b.scalar_type());
    const auto difference = (a - b).to(torch::kFloat64).norm().item<double>();
    EXPECT_LE(difference, tolerance * b.to(torch::kFloat64).norm().item<double>());
  };
  close(ours.loss, theirs.loss);
  close(ours.of_hidden, theirs.of_hidden);
  close(ours.of_weight, theirs.of_weight);
}

TEST(ChunkedLoss, EqualsAutogradWhateverTheChunk) {
  for (const std::int64_t chunk : {1, 5, 36, 37, 1000}) {
    expect_close(outcome_of(chunked_loss(chunk), torch::kFloat64),
                 outcome_of(plain_loss, torch::kFloat64), 1e-14);
    expect_close(outcome_of(chunked_loss(chunk), torch::kFloat32),
                 outcome_of(plain_loss, torch::kFloat32), 1e-6);
  }
}

TEST(ChunkedLoss, AgreesWithDifferencesOfTheLoss) {
  Problem problem = random_problem(torch::kFloat64);
  chunked_loss(8)(problem).backward();
  const torch::NoGradGuard no_grad;
  const auto slope = [&](const torch::Tensor& element) {
    const double value = element.item<double>(), step = 1e-6;
    element.fill_(value + step);
    const double above = chunked_loss(8)(problem).item<double>();
    element.fill_(value - step);
    const double below = chunked_loss(8)(problem).item<double>();
    element.fill_(value);
    return (above - below) / (2 * step);
  };
  for (const std::int64_t i : {0, 3, 20}) {
    EXPECT_NEAR(problem.hidden.grad()[i][4].item<double>(), slope(problem.hidden[i][4]), 1e-8) << i;
    EXPECT_NEAR(problem.weight.grad()[i][2].item<double>(), slope(problem.weight[i][2]), 1e-8) << i;
  }
}

TEST(ChunkedLoss, PassesOnWhatTheLossIsMultipliedBy) {
  expect_close(outcome_of(chunked_loss(10), torch::kFloat64, 0.125),
               outcome_of(plain_loss, torch::kFloat64, 0.125), 1e-14);
}

TEST(ChunkedLoss, GradientsIn16BitsAreAsNearToTheExactOnesAsAutograds) {
  const Outcome exact = outcome_of(plain_loss, torch::kFloat64);
  const auto error = [&](const Outcome& outcome, double factor) {
    const auto distance = [&](const torch::Tensor& a, const torch::Tensor& b) {
      return ((a.to(torch::kFloat64) / factor - b).norm() / b.norm()).item<double>();
    };
    return std::max(distance(outcome.of_hidden, exact.of_hidden),
                    distance(outcome.of_weight, exact.of_weight));
  };
  EXPECT_LT(error(outcome_of(chunked_loss(8), torch::kBFloat16), 1),
            1.2 * error(outcome_of(plain_loss, torch::kBFloat16), 1));
  // With a scale whose gradients of logits would be subnormal in fp16 without it.
  const auto scale = torch::tensor(1024.0f);
  EXPECT_LT(error(outcome_of(chunked_loss(8, scale), torch::kFloat16, 1024), 1024),
            1.2 * error(outcome_of(plain_loss, torch::kFloat16, 1024), 1024));
}

// Confident predictions in fp16: a probability of 1e-7 is nothing there unless it was scaled first.
TEST(ChunkedLoss, ScalesBeforeItRoundsToFp16) {
  Problem problem = random_problem(torch::kFloat16);
  const torch::NoGradGuard no_grad;
  problem.hidden.zero_();
  problem.weight.zero_();
  problem.hidden.select(1, 0).fill_(1.0);
  problem.weight.select(1, 0).fill_(-18.0);
  problem.weight[5][0] = 0.0;
  problem.targets.fill_(5);
  const torch::AutoGradMode with_gradients(true);
  const auto scale = torch::tensor(65536.0f);
  (chunked_loss(8, scale)(problem) * scale).backward();
  const double rest = (kVocabulary - 1) * std::exp(-18.0);
  EXPECT_NEAR(problem.hidden.grad()[0][0].item<double>(), -rest * 18 / 37 * 65536,
              0.02 * rest * 18 / 37 * 65536);
}

TEST(ChunkedLoss, AnOverflowInFp16ReachesTheGradients) {
  const auto scale = torch::tensor(16777216.0f);
  const Outcome outcome = outcome_of(chunked_loss(8, scale), torch::kFloat16, 16777216);
  EXPECT_FALSE(at::isfinite(outcome.of_weight).all().item<bool>());
}

TEST(ChunkedLoss, ComputesInAutocastsTypeAndGivesGradientsInTheirOwn) {
  const auto under_autocast = [](const Loss& loss) {
    return [loss](const Problem& problem) {
      const tensor::AutocastScope autocast(torch::kCPU, torch::kBFloat16);
      return loss(problem);
    };
  };
  const Outcome ours = outcome_of(under_autocast(chunked_loss(8)), torch::kFloat32);
  EXPECT_EQ(ours.of_hidden.scalar_type(), torch::kFloat32);
  EXPECT_EQ(ours.loss.scalar_type(), torch::kFloat32);
  expect_close(ours, outcome_of(under_autocast(plain_loss), torch::kFloat32), 0.01);
}

TEST(ChunkedLoss, LeavesOutGradientsThatNobodyWants) {
  const Outcome whole = outcome_of(chunked_loss(8), torch::kFloat64);
  Problem frozen_head = random_problem(torch::kFloat64);
  frozen_head.weight.set_requires_grad(false);
  chunked_loss(8)(frozen_head).backward();
  EXPECT_TRUE(torch::equal(frozen_head.hidden.grad(), whole.of_hidden));
  EXPECT_FALSE(frozen_head.weight.grad().defined());
  Problem frozen_body = random_problem(torch::kFloat64);
  frozen_body.hidden.set_requires_grad(false);
  chunked_loss(8)(frozen_body).backward();
  EXPECT_TRUE(torch::equal(frozen_body.weight.grad(), whole.of_weight));
}

TEST(ChunkedLoss, NeedsNoGradientsToBeEvaluated) {
  const Problem problem = random_problem(torch::kFloat64);
  const torch::Tensor with = chunked_loss(8)(problem);
  const torch::NoGradGuard no_grad;
  const torch::Tensor without = chunked_loss(8)(problem);
  EXPECT_FALSE(without.requires_grad());
  EXPECT_TRUE(torch::equal(with, without));
}

TEST(ChunkedLoss, DividesItsSumByWhatItIsTold) {
  const Problem problem = random_problem(torch::kFloat64);
  const auto loss =
      model::chunked_cross_entropy(problem.hidden, problem.weight, problem.targets, 7, {8, {}});
  EXPECT_NEAR(loss.item<double>(), plain_loss(problem).item<double>() * (kTokens - 2) / 7, 1e-12);
}

TEST(ChunkedLoss, IsZeroWithGradientsOfZeroWhereAllTargetsAreIgnored) {
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16}) {
    Problem problem = random_problem(type);
    problem.targets.fill_(model::kIgnoredTarget);
    const auto loss =
        model::chunked_cross_entropy(problem.hidden, problem.weight, problem.targets, 5, {8, {}});
    loss.backward();
    EXPECT_EQ(loss.item<double>(), 0);
    EXPECT_TRUE(problem.hidden.grad().eq(0).all().item<bool>());
    EXPECT_TRUE(problem.weight.grad().eq(0).all().item<bool>());
  }
}

TEST(ChunkedLoss, AddsToATiedWeightsOtherGradient) {
  const auto tied = [](const Loss& loss) {
    const Problem problem = random_problem(torch::kFloat64);
    const auto inputs = problem.targets.clamp_min(0);
    loss({at::embedding(problem.weight, inputs).tanh(), problem.weight, problem.targets})
        .backward();
    return problem.weight.grad();
  };
  EXPECT_TRUE(torch::allclose(tied(chunked_loss(8)), tied(plain_loss), 1e-12, 1e-14));
}

TEST(ChunkedLoss, RefusesASecondBackwardAsAutogradDoes) {
  const Problem problem = random_problem(torch::kFloat32);
  const torch::Tensor loss = chunked_loss(8)(problem);
  loss.backward();
  EXPECT_THROW(loss.backward(), c10::Error);
}

}  // namespace
}  // namespace shardlens::trainer
