#include "trainer/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/data/encoded_texts.h"
#include "tests/trainer/strategy/fake_strategy.h"
#include "trainer/data/batch_stream.h"
#include "trainer/model/build_model.h"
#include "trainer/model/layers/batch_score.h"

namespace shardlens::trainer::evaluate {
namespace {

model::ModelShape small_shape() {
  model::ModelShape shape;
  shape.layers = 1;
  shape.width = 16;
  shape.heads = shape.kv_heads = 2;
  shape.mlp_width = 32;
  shape.vocabulary = 300;
  shape.context = 32;
  return shape;
}

// The classes' logits are rows of a table at the first token.
struct TableClassifier : model::Model {
  TableClassifier() { table = register_parameter("table", torch::randn({300, 3})); }
  std::vector<std::shared_ptr<model::Layer>> blocks() const override { return {}; }
  torch::Tensor logits(const model::TokenBatch& batch) const {
    return at::embedding(table, batch.inputs.select(1, 0));
  }
  torch::Tensor loss(const model::TokenBatch& batch, double divisor,
                     const std::optional<model::ChunkedLossOptions>&) override {
    return at::cross_entropy_loss(logits(batch), batch.targets, {}, at::Reduction::Sum) / divisor;
  }
  torch::Tensor score(const model::TokenBatch& batch,
                      const std::optional<model::ChunkedLossOptions>&) override {
    return model::score_of_logits(logits(batch), batch.targets);
  }
  torch::Tensor table;
};

struct Case {
  const char* name;
  text::EncodedText text;
  std::int64_t classes = 0;
};

std::vector<Case> cases() {
  return {{"packed", counting_text(4 * 40 + 1)},
          {"padded", uneven_completions(60, 11)},
          {"labels", labeled_texts(60, 3), 3}};
}

data::TokenDataset dataset_of(const Case& one) {
  trace::job::Settings settings;
  settings.sequence_length = one.classes > 0 ? 9 : 4;
  settings.batch_per_rank = 1;
  settings.evaluation_fraction = 0.5;
  return *data::TokenDataset::create(one.text, std::nullopt, settings, {300, one.classes, 0}, 1);
}

std::unique_ptr<model::Model> classifier() {
  torch::manual_seed(5);
  return std::make_unique<TableClassifier>();
}

// Sample by sample, in one process: sum of losses, targets foretold, targets.
struct Direct {
  double loss = 0, right = 0, targets = 0;
};

Direct direct(model::Model& model, const data::TokenDataset& dataset, std::int64_t samples) {
  const torch::NoGradGuard no_grad;
  Direct sum;
  for (std::int64_t i = 0; i < samples; ++i) {
    const model::TokenBatch batch =
        dataset.batch(std::array<std::int64_t, 1>{dataset.training_samples() + i});
    const torch::Tensor score = model.score(batch);
    sum.loss += score[0].item<double>();
    sum.right += score[1].item<double>();
    sum.targets += batch.targets.ne(model::kIgnoredTarget).sum().item<double>();
  }
  return sum;
}

void expect_exact(const Case& one, int ranks, std::int64_t batch_size, std::int64_t most) {
  const data::TokenDataset dataset = dataset_of(one);
  const std::int64_t samples =
      most == 0 ? dataset.evaluation_samples()
                : std::min(dataset.evaluation_samples(), most * batch_size * ranks);
  const auto make = [&]() -> std::shared_ptr<model::Model> {
    if (one.classes > 0) return classifier();
    return model::build_model(small_shape(), {0.0, 7, torch::kCPU});
  };
  std::vector<std::shared_ptr<model::Model>> models;
  for (int rank = 0; rank < ranks; ++rank) models.push_back(make());
  const Direct expected = direct(*models.front(), dataset, samples);
  std::vector<Evaluation> results(static_cast<std::size_t>(ranks));
  comm::on_ranks(
      ranks, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        FakeStrategy strategy({});
        EvaluationOptions options;
        options.batch_size = batch_size;
        options.most_batches = most;
        results[rank] = evaluate(*models[rank], strategy, dataset, communicator, recorder, options);
        EXPECT_TRUE(models[rank]->is_training());
      });
  for (const Evaluation& result : results) {
    EXPECT_NEAR(result.loss, expected.loss / expected.targets, 1e-6);
    EXPECT_EQ(result.accuracy, expected.right / expected.targets);
    EXPECT_EQ(result.targets, expected.targets);
    EXPECT_EQ(result.sequences, samples);
    if (one.classes > 0) {
      EXPECT_TRUE(std::isnan(result.perplexity));
    } else {
      EXPECT_EQ(result.perplexity, std::exp(result.loss));
    }
  }
}

TEST(Evaluation, CountsEachHeldOutTargetOnceWhateverTheRanksAndBatches) {
  for (const Case& one : cases()) {
    for (const int ranks : {1, 2, 3}) {
      for (const std::int64_t batch_size : {1, 4, 100}) {
        SCOPED_TRACE(std::string(one.name) + ", ranks " + std::to_string(ranks) + ", batch " +
                     std::to_string(batch_size));
        expect_exact(one, ranks, batch_size, 0);
      }
    }
  }
}

TEST(Evaluation, TakesTheFirstBatchesIfItIsLimited) { expect_exact(cases()[1], 2, 3, 2); }

// The mean over all targets of all ranks and micro-batches, and its gradients, however they are
// spread: as a single backward over all of them at once.
TEST(LossWeighting, OfUnevenMicroBatchesIsTheMeanOverTheirTargets) {
  constexpr int kRanks = 3, kMicroBatches = 2;
  const data::TokenDataset dataset = dataset_of(cases()[1]);
  const auto model = model::build_model(small_shape(), {0.0, 7, torch::kCPU});
  const auto spread = model::build_model(small_shape(), {0.0, 7, torch::kCPU});
  torch::Tensor together = torch::zeros({});
  double targets = 0;
  torch::Tensor loss = torch::zeros({});
  for (int rank = 0; rank < kRanks; ++rank) {
    data::BatchStream stream(dataset,
                             {dataset.training_samples(), kRanks, rank, true, false, 1, false}, 2,
                             kMicroBatches);
    stream.go_to(0,
                 stream.batches_per_epoch() - 1);  // one that is short, and one of the next epoch
    for (int i = 0; i < kMicroBatches; ++i) {
      const data::TrainingBatch batch = stream.next();
      const auto divisor = static_cast<double>(batch.step.targets) / kRanks;
      const torch::Tensor own = spread->loss(batch, divisor) / kRanks;  // strategies average
      own.backward();
      loss += own.detach();
      together = together + model->loss(batch, 1.0);
      targets += batch.targets.ne(model::kIgnoredTarget).sum().item<double>();
    }
  }
  const torch::Tensor mean = together / targets;
  mean.backward();
  EXPECT_NEAR(loss.item<double>(), mean.item<double>(), 1e-6);
  const auto expected = model->parameters(), parameters = spread->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_TRUE(torch::allclose(parameters[i].grad(), expected[i].grad(), 1e-4, 1e-7)) << i;
  }
}

}  // namespace
}  // namespace shardlens::trainer::evaluate
