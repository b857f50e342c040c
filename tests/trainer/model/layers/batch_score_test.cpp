#include "trainer/model/layers/batch_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trainer/model/build_model.h"
#include "trainer/tensor/autocast_scope.h"

namespace shardlens::trainer {
namespace {

// By hand: logits 0 and ln 3 are probabilities 1/4 and 3/4.
TEST(BatchScore, SumsLossesAndCountsWhatIsForetold) {
  const double ln3 = std::log(3.0);
  const auto logits =
      torch::tensor({{0.0, ln3}, {0.0, ln3}, {ln3, 0.0}, {0.0, 0.0}}, torch::kFloat64);
  const auto targets = torch::tensor({1L, 0L, model::kIgnoredTarget, 0L});
  const auto score = model::score_of_logits(logits, targets);
  EXPECT_NEAR(score[0].item<double>(), -std::log(0.75) - std::log(0.25) - std::log(0.5), 1e-12);
  EXPECT_EQ(score[1].item<double>(), 2);  // the first, and of equals the first
  EXPECT_EQ(
      model::score_of_logits(logits, torch::full({4}, model::kIgnoredTarget)).sum().item<double>(),
      0);
}

TEST(BatchScore, IsTheSameByChunks) {
  torch::manual_seed(3);
  const auto hidden = torch::randn({37, 12}), weight = torch::randn({29, 12});
  auto targets = at::linear(hidden, weight).argmax(1);
  targets.slice(0, 0, 20).copy_(torch::randint(29, {20}));
  targets[30] = model::kIgnoredTarget;
  const auto whole = model::score_of_logits(at::linear(hidden, weight), targets);
  EXPECT_GE(whole[1].item<double>(), 16);
  EXPECT_LT(whole[1].item<double>(), 36);
  for (const std::int64_t chunk : {1, 5, 36, 37, 1000}) {
    const auto score = model::score_of_hidden(hidden, weight, targets, chunk);
    EXPECT_TRUE(torch::allclose(score, whole, 1e-6, 0)) << chunk;
    EXPECT_EQ(score[1].item<double>(), whole[1].item<double>()) << chunk;
  }
}

// As a frozen output matrix is with base_dtype: bf16, or an embedding that is tied to it.
TEST(BatchScore, OfAMatrixThatIsKeptIn16BitsIsThatOfItsValues) {
  torch::manual_seed(3);
  const auto hidden = torch::randn({7, 12}), weight = torch::randn({29, 12}).to(torch::kBFloat16);
  const auto targets = torch::randint(29, {7});
  const auto whole =
      model::score_of_logits(at::linear(hidden, weight.to(torch::kFloat32)), targets);
  EXPECT_TRUE(torch::allclose(model::score_of_hidden(hidden, weight, targets, 3), whole, 1e-6, 0));
}

TEST(BatchScore, OfADecoderIsTheSumOfItsLosses) {
  model::ModelShape shape;
  shape.layers = 1;
  shape.width = 16;
  shape.heads = shape.kv_heads = 2;
  shape.mlp_width = 32;
  shape.vocabulary = 50;
  shape.context = 16;
  const auto model = model::build_model(shape, {0.0, 7, torch::kCPU});
  const torch::NoGradGuard no_grad;
  model::TokenBatch batch;
  batch.inputs = torch::randint(50, {3, 9});
  batch.targets = torch::randint(50, {3, 9});
  batch.targets[1].slice(0, 4).fill_(model::kIgnoredTarget);
  for (const bool by_chunks : {false, true}) {
    std::optional<model::ChunkedLossOptions> chunks;
    if (by_chunks) chunks = model::ChunkedLossOptions{4, {}};
    const auto score = model->score(batch, chunks);
    EXPECT_NEAR(score[0].item<double>(), model->loss(batch, 1.0, chunks).item<double>(), 1e-4);
  }
  const tensor::AutocastScope autocast(torch::kCPU, torch::kBFloat16);
  EXPECT_NEAR(model->score(batch, model::ChunkedLossOptions{4, {}})[0].item<double>(),
              model->score(batch)[0].item<double>(), 0.05);
}

}  // namespace
}  // namespace shardlens::trainer
