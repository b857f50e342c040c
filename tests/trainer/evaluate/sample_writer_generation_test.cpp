#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>

#include "tests/trainer/strategy/fake_strategy.h"
#include "tests/trainer/strategy/sharded_training.h"
#include "trainer/evaluate/sample_writer.h"
#include "trainer/strategy/fsdp/fully_sharded.h"

namespace shardlens::trainer::evaluate {
namespace {

constexpr std::array<std::int64_t, 4> kPrompt{72, 101, 108, 108};

std::shared_ptr<model::DecoderModel> small_model(model::ModelLayout layout) {
  Training training;
  training.layout = layout;
  auto model = initial_model(training);
  // Large weights: an untrained model would find all tokens about equally probable.
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) {
    if (parameter.dim() == 2) parameter.mul_(8);
  }
  return model;
}

GenerationOptions of(std::int64_t tokens, double temperature = 0, std::int64_t context = 64) {
  GenerationOptions options;
  options.tokens = tokens;
  options.temperature = temperature;
  options.context = context;
  return options;
}

TEST(Generation, TakesTheMostProbableTokenOfTheWholeTextSoFar) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    const auto model = small_model(layout);
    FakeStrategy strategy({});
    const auto tokens = generate(*model, strategy, kPrompt, of(6));
    ASSERT_EQ(tokens.size(), 6u);
    const torch::NoGradGuard no_grad;
    std::vector<std::int64_t> text(kPrompt.begin(), kPrompt.end());
    for (const std::int64_t token : tokens) {
      const auto logits = model->logits(torch::tensor(text, torch::kLong).unsqueeze(0));
      EXPECT_EQ(token, logits[0][-1].argmax().item<std::int64_t>());
      text.push_back(token);
    }
  }
}

TEST(Generation, ShowsTheModelNoMoreThanItsContext) {
  const auto model = small_model(model::ModelLayout::kGpt2);
  FakeStrategy strategy({});
  const auto long_prompt = generate(*model, strategy, kPrompt, of(1, 0, 2));
  const auto its_end = generate(*model, strategy, std::span(kPrompt).last(2), of(1));
  EXPECT_EQ(long_prompt, its_end);
}

TEST(Generation, DrawsByProbabilityAndTheSameForTheSameSeed) {
  const auto model = small_model(model::ModelLayout::kGpt2);
  FakeStrategy strategy({});
  torch::Tensor probabilities;
  {
    const torch::NoGradGuard no_grad;
    const auto prompt = torch::tensor(at::IntArrayRef(kPrompt.data(), 4), torch::kLong);
    probabilities = at::softmax(model->logits(prompt.unsqueeze(0))[0][-1] / 2.0, 0);
  }
  std::map<std::int64_t, int> drawn;
  constexpr int kDraws = 600;
  for (int seed = 0; seed < kDraws; ++seed) {
    GenerationOptions options = of(1, 2.0);
    options.seed = static_cast<std::uint64_t>(seed);
    const auto first = generate(*model, strategy, kPrompt, options);
    if (seed < 3) {
      EXPECT_EQ(generate(*model, strategy, kPrompt, options), first);
    }
    ++drawn[first.front()];
  }
  // The most probable token's share within four standard deviations.
  const auto best = probabilities.argmax().item<std::int64_t>();
  const double share = probabilities[best].item<double>();
  const double deviation = std::sqrt(share * (1 - share) / kDraws);
  EXPECT_NEAR(static_cast<double>(drawn[best]) / kDraws, share, 4 * deviation);
  EXPECT_GT(drawn.size(), 3u);
}

// A rank tells its launcher so that it does not hang.
TEST(Generation, TellsOfEachToken) {
  const auto model = small_model(model::ModelLayout::kGpt2);
  FakeStrategy strategy({});
  GenerationOptions options = of(3);
  int tokens = 0;
  options.on_token = [&] { ++tokens; };
  generate(*model, strategy, kPrompt, options);
  EXPECT_EQ(tokens, 3);
}

// A run that is to go on after such a step does, and one that is to stop says so of its loss.
TEST(Generation, AModelThatIsNotFiniteWritesSomething) {
  const auto model = small_model(model::ModelLayout::kGpt2);
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) {
      parameter.fill_(std::numeric_limits<double>::quiet_NaN());
    }
  }
  FakeStrategy strategy({});
  for (const double temperature : {0.0, 0.8}) {
    EXPECT_EQ(generate(*model, strategy, kPrompt, of(3, temperature)).size(), 3u);
  }
}

TEST(Generation, LeavesTheModelTraining) {
  const auto model = small_model(model::ModelLayout::kGpt2);
  model->train();
  FakeStrategy strategy({});
  generate(*model, strategy, kPrompt, of(1));
  EXPECT_TRUE(model->is_training());
}

TEST(Generation, GivesAllRanksOfAShardedModelTheTextOfOneProcess) {
  const auto whole = small_model(model::ModelLayout::kGpt2);
  FakeStrategy strategy({});
  const auto expected = generate(*whole, strategy, kPrompt, of(8));
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    const auto model = small_model(model::ModelLayout::kGpt2);
    strategy::FullyShardedOptions options;
    options.shard_group_size = 2;
    strategy::FullySharded sharded(*model, communicator, recorder, options);
    EXPECT_EQ(generate(*model, sharded, kPrompt, of(8)), expected);
  });
}

}  // namespace
}  // namespace shardlens::trainer::evaluate
