#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/trainer/data/encoded_texts.h"
#include "trainer/data/batch_loader.h"
#include "trainer/data/batch_stream.h"
#include "trainer/data/token_dataset.h"

namespace shardlens::trainer {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr data::DatasetTraits kLanguageModel{100000, 0, 99};

trace::job::Settings settings_for(std::int64_t length, std::int64_t batch, double evaluation) {
  trace::job::Settings settings;
  settings.sequence_length = length;
  settings.batch_per_rank = batch;
  settings.evaluation_fraction = evaluation;
  return settings;
}

trace::base::Result<data::TokenDataset> dataset_of(text::EncodedText text,
                                                   const trace::job::Settings& settings,
                                                   int ranks = 1,
                                                   data::DatasetTraits traits = kLanguageModel) {
  return data::TokenDataset::create(std::move(text), std::nullopt, settings, traits, ranks);
}

std::string error_of(const trace::base::Result<data::TokenDataset>& dataset) {
  return dataset ? "" : dataset.error().message;
}

TEST(PackedDataset, ShiftsTargetsByOneTokenAndKeepsTheEndForEvaluation) {
  const auto dataset = dataset_of(counting_text(41), settings_for(4, 1, 0.2));
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->training_samples(), 8);
  EXPECT_EQ(dataset->evaluation_samples(), 2);
  const auto batch = dataset->batch(std::vector<std::int64_t>{9, 0});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{36, 37, 38, 39}, {0, 1, 2, 3}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({{37, 38, 39, 40}, {1, 2, 3, 4}})));
  EXPECT_FALSE(batch.attention_mask.defined());
  EXPECT_EQ(batch.counted_targets, 8);
  EXPECT_EQ(batch.read_tokens, 8);
}

// So that losses of the two are of the same training.
TEST(PackedDataset, TrainsOnTheSameTextWhetherItEvaluatesOrNot) {
  auto settings = settings_for(4, 1, 0.2);
  const auto without = dataset_of(counting_text(41), settings);
  settings.evaluate_every = 5;
  const auto with = dataset_of(counting_text(41), settings);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(without->training_samples(), with->training_samples());
}

TEST(PackedDataset, CarriesTheMaskAlong) {
  auto settings = settings_for(3, 1, 0);
  settings.packing = trace::job::AutoBool::kTrue;
  const auto dataset = dataset_of(
      encoded(text::TextKind::kCompletion, {{{1, 2, 3, 4}, "0011"}, {{5, 6, 7}, "001"}}), settings);
  ASSERT_TRUE(dataset) << dataset.error().message;
  const auto batch = dataset->batch(std::vector<std::int64_t>{0, 1});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{1, 2, 3}, {4, 5, 6}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({{-100, 3, 4}, {-100, -100, 7}})));
  EXPECT_EQ(batch.counted_targets, 3);
  EXPECT_EQ(dataset->counted_targets(0), 2);
  EXPECT_EQ(dataset->counted_targets(1), 1);
}

TEST(PackedDataset, RefusesATextThatIsTooShortForOneStep) {
  // 8 blocks for training: 2 ranks with 4 each are served, with 5 each not.
  EXPECT_TRUE(dataset_of(counting_text(41), settings_for(4, 4, 0.2), 2));
  EXPECT_THAT(error_of(dataset_of(counting_text(41), settings_for(4, 5, 0.2), 2)),
              HasSubstr("one step needs 10"));
  EXPECT_FALSE(dataset_of(counting_text(0), settings_for(4, 1, 0)));
}

TEST(PackedDataset, RefusesEvaluationWithoutText) {
  auto settings = settings_for(4, 1, 0);
  settings.evaluate_every = 5;
  EXPECT_THAT(error_of(dataset_of(counting_text(41), settings)), HasSubstr("evaluation_fraction"));
  settings.evaluation_data = "short.txt";
  EXPECT_THAT(error_of(data::TokenDataset::create(counting_text(41), counting_text(4), settings,
                                                  kLanguageModel, 1)),
              HasSubstr("\"short.txt\" is shorter than one sequence"));
}

TEST(PackedDataset, EvaluatesOnATextOfItsOwn) {
  const auto dataset = data::TokenDataset::create(counting_text(41), counting_text(9),
                                                  settings_for(4, 1, 0.2), kLanguageModel, 1);
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->training_samples(), 10);
  EXPECT_EQ(dataset->evaluation_samples(), 2);
  const auto batch = dataset->batch(std::vector<std::int64_t>{11});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{4, 5, 6, 7}})));
}

TEST(PackedDataset, TellsApartWhatIsHeldOut) {
  const auto share = [](double fraction) {
    return dataset_of(counting_text(41), settings_for(4, 1, fraction))->held_out_checksum();
  };
  EXPECT_EQ(share(0.2), share(0.2));
  EXPECT_NE(share(0.2), share(0.4));
  const auto own = [](std::int64_t training, std::int64_t evaluation) {
    return data::TokenDataset::create(counting_text(training), counting_text(evaluation),
                                      settings_for(4, 1, 0.2), kLanguageModel, 1)
        ->held_out_checksum();
  };
  EXPECT_EQ(own(41, 9), own(81, 9));
  EXPECT_NE(own(41, 9), own(41, 13));
}

TEST(PackedDataset, TellsTextsApartByTheirChecksum) {
  const auto checksum = [](text::TextKind kind, const LiteralExample& example) {
    auto settings = settings_for(4, 1, 0);
    settings.packing = trace::job::AutoBool::kTrue;
    return dataset_of(encoded(kind, {example}), settings)->checksum();
  };
  const auto first = checksum(text::TextKind::kCompletion, {{1, 2, 3, 4, 5}, "00111"});
  EXPECT_NE(first, checksum(text::TextKind::kCompletion, {{1, 2, 4, 3, 5}, "00111"}));
  EXPECT_NE(first, checksum(text::TextKind::kCompletion, {{1, 2, 3, 4, 5}, "01111"}));
}

TEST(PaddedDataset, PadsToTheLongestOfTheBatchRoundedUp) {
  const auto dataset = dataset_of(
      encoded(text::TextKind::kCompletion,
              {{{1, 2, 3, 4}, "0011"}, {{5, 6}, "01"}, {std::vector<text::TokenId>(12, 7), ""}}),
      settings_for(20, 1, 0));
  ASSERT_TRUE(dataset) << dataset.error().message;
  const auto batch = dataset->batch(std::vector<std::int64_t>{0, 1});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{1, 2, 3, 99, 99, 99, 99, 99},
                                                        {5, 99, 99, 99, 99, 99, 99, 99}})));
  const std::int64_t x = model::kIgnoredTarget;
  EXPECT_TRUE(torch::equal(batch.targets,
                           torch::tensor({{x, 3L, 4L, x, x, x, x, x}, {6L, x, x, x, x, x, x, x}})));
  EXPECT_TRUE(torch::equal(batch.attention_mask.sum(1), torch::tensor({3L, 1L})));
  EXPECT_TRUE(batch.attention_mask[0][2].item<bool>());
  EXPECT_EQ(batch.counted_targets, 3);
  EXPECT_EQ(batch.read_tokens, 4);
  EXPECT_EQ(dataset->batch(std::vector<std::int64_t>{0, 2}).inputs.size(1), 16);
}

TEST(PaddedDataset, NeverExceedsTheSequenceLengthAndNeedsNoMaskWithoutPadding) {
  const auto dataset = dataset_of(
      encoded(text::TextKind::kCompletion, {{{1, 2, 3, 4, 5, 6, 7, 8}}, {{1, 2, 3, 4, 5, 6}}}),
      settings_for(5, 1, 0));
  ASSERT_TRUE(dataset) << dataset.error().message;
  const auto batch = dataset->batch(std::vector<std::int64_t>{0, 1});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({{2, 3, 4, 5, 6}, {2, 3, 4, 5, 6}})));
  EXPECT_FALSE(batch.attention_mask.defined());
  EXPECT_THAT(dataset->notes(), Contains(HasSubstr("1 of 2 examples are longer")));
}

TEST(PaddedDataset, LeavesOutExamplesWithNothingToLearnAndSaysSo) {
  const auto dataset = dataset_of(
      encoded(text::TextKind::kCompletion,
              {{{1, 2, 3, 4, 5}, "00001"}, {{6, 7, 8}, "011"}, {{9}, "1"}, {{9, 9}, "10"}}),
      settings_for(3, 1, 0));
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->training_samples(), 1);
  EXPECT_TRUE(torch::equal(dataset->batch(std::vector<std::int64_t>{0}).targets,
                           torch::tensor({{7L, 8L, model::kIgnoredTarget}})));
  EXPECT_THAT(dataset->notes(), Contains(HasSubstr("3 of 4 examples have nothing to learn")));
}

TEST(PaddedDataset, SaysWhyThereIsNothingLeftToTrainOn) {
  const auto dataset = dataset_of(
      encoded(text::TextKind::kCompletion, {{{1, 2, 3, 4, 5}, "00001"}, {{6, 7, 8}, "100"}}),
      settings_for(3, 1, 0));
  EXPECT_THAT(error_of(dataset), HasSubstr("2 of 2 examples have nothing to learn"));
}

TEST(LabeledDataset, HasOneTargetPerRowAndKeepsTheTailOfWhatItCuts) {
  const auto text = encoded(text::TextKind::kLabeled,
                            {{{1, 2, 3, 4, 5, 6, 7, 80, 81}, "", 1}, {{1, 2, 81}, "", 0}}, 2);
  const auto dataset = dataset_of(text, settings_for(6, 1, 0), 1, {100, 2, 99});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_TRUE(dataset->is_classification());
  const auto batch = dataset->batch(std::vector<std::int64_t>{0, 1});
  EXPECT_TRUE(
      torch::equal(batch.inputs, torch::tensor({{1, 2, 3, 4, 80, 81}, {1, 2, 81, 99, 99, 99}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({1L, 0L})));
  EXPECT_TRUE(torch::equal(batch.attention_mask.sum(1), torch::tensor({6L, 3L})));
  EXPECT_EQ(batch.counted_targets, 2);
  EXPECT_THAT(dataset->notes(), Contains(HasSubstr("1 of 2 examples are longer")));
  const auto stand_in = dataset->stand_in();
  EXPECT_TRUE(stand_in.is_stand_in);
  EXPECT_EQ(stand_in.counted_targets, 0);
  EXPECT_TRUE(torch::equal(stand_in.targets, torch::tensor({model::kIgnoredTarget})));
}

TEST(TokenDataset, RefusesWhatDoesNotFitTheModel) {
  const auto settings = settings_for(4, 1, 0);
  EXPECT_THAT(error_of(dataset_of(labeled_texts(9, 2), settings)),
              HasSubstr("has labels, but the model predicts text"));
  EXPECT_THAT(error_of(dataset_of(counting_text(41), settings, 1, {100, 2, 0})),
              HasSubstr("The model is a classifier, but the data \"builtin\" has text"));
  EXPECT_THAT(error_of(dataset_of(labeled_texts(9, 3), settings, 1, {100, 2, 0})),
              HasSubstr("has the label 2, but the model tells 2 classes apart"));
  EXPECT_THAT(error_of(dataset_of(counting_text(41), settings, 1, {40, 0, 0})),
              HasSubstr("gives token 40, but the model's vocabulary has 40"));
  auto packed = settings;
  packed.packing = trace::job::AutoBool::kTrue;
  EXPECT_THAT(error_of(dataset_of(labeled_texts(9, 2), packed, 1, {100, 2, 0})),
              HasSubstr("cannot be packed"));
  const auto long_tail = encoded(text::TextKind::kLabeled, {{{1, 2, 3, 4}, "", 0}}, 3);
  EXPECT_THAT(error_of(dataset_of(long_tail, settings, 1, {100, 2, 0})),
              HasSubstr("sequence_length 4 leaves no room"));
}

TEST(BatchStream, StartsTheNextEpochInANewOrder) {
  const auto dataset = dataset_of(counting_text(4 * 11 + 1), settings_for(4, 2, 0));
  data::BatchStream stream(*dataset, {11, 1, 0, true, true, 3}, 2);
  EXPECT_EQ(stream.batches_per_epoch(), 5);
  auto epoch_of_inputs = [&] {
    std::vector<torch::Tensor> inputs;
    for (int i = 0; i < 5; ++i) inputs.push_back(stream.next().inputs);
    return torch::cat(inputs);
  };
  const auto first = epoch_of_inputs();
  EXPECT_EQ(stream.epoch(), 0);
  const auto second = epoch_of_inputs();
  EXPECT_EQ(stream.epoch(), 1);
  EXPECT_FALSE(torch::equal(first, second));
}

TEST(BatchStream, WithoutPaddingARankThatRanOutGetsAStandIn) {
  const auto dataset = dataset_of(counting_text(4 * 5 + 1), settings_for(4, 1, 0));
  // 5 blocks over 2 ranks in batches of 1: ranks have 3 and 2, and both draw 3 batches.
  for (const int rank : {0, 1}) {
    data::BatchStream stream(*dataset, {5, 2, rank, false, false, 0, false}, 1);
    EXPECT_EQ(stream.batches_per_epoch(), 3);
    for (int i = 0; i < 3; ++i) {
      const data::TrainingBatch batch = stream.next();
      EXPECT_EQ(batch.is_stand_in, rank == 1 && i == 2) << rank << " " << i;
      EXPECT_EQ(batch.step.stand_ins, i == 2 ? 1 : 0);
      EXPECT_EQ(batch.step.targets, i == 2 ? 4 : 8);
      EXPECT_EQ(stream.epoch(), 0);
    }
    EXPECT_FALSE(stream.next().is_stand_in);
    EXPECT_EQ(stream.epoch(), 1);
  }
}

TEST(BatchStream, KeepsTheShortLastBatchUnlessToldToDropIt) {
  const auto dataset = dataset_of(counting_text(4 * 5 + 1), settings_for(4, 2, 0));
  data::BatchStream stream(*dataset, {5, 1, 0, false, false, 0}, 2);
  EXPECT_EQ(stream.batches_per_epoch(), 3);
  stream.next();
  stream.next();
  EXPECT_EQ(stream.next().inputs.size(0), 1);
}

struct Form {
  const char* name;
  text::EncodedText text;
  data::DatasetTraits traits;
};

std::vector<Form> forms() {
  return {{"packed text", counting_text(4 * 37 + 1), kLanguageModel},
          {"padded completions", uneven_completions(37, 11), kLanguageModel},
          {"labels", labeled_texts(37, 3), {100000, 3, 99}}};
}

// The first token of a row tells its sample.
std::vector<std::int64_t> first_tokens(const model::TokenBatch& batch) {
  const auto column = batch.inputs.select(1, 0).contiguous();
  return {column.const_data_ptr<std::int64_t>(),
          column.const_data_ptr<std::int64_t>() + column.numel()};
}

TEST(BatchStream, OverAllRanksEveryEpochHasEachSampleOnce) {
  for (const Form& form : forms()) {
    for (const int ranks : {1, 2, 3, 5}) {
      for (const std::int64_t size : {1, 2, 7}) {
        const auto dataset = dataset_of(form.text, settings_for(4, 1, 0), 1, form.traits);
        ASSERT_TRUE(dataset) << dataset.error().message;
        const data::SamplerOptions options{dataset->samples(), ranks, 0, true, false, 5, false};
        std::map<std::int64_t, std::multiset<std::int64_t>> seen;  // by epoch
        for (int rank = 0; rank < ranks; ++rank) {
          data::SamplerOptions mine = options;
          mine.rank = rank;
          data::BatchStream stream(*dataset, mine, size);
          for (int i = 0; i < 2 * stream.batches_per_epoch(); ++i) {
            const data::TrainingBatch batch = stream.next();
            if (batch.is_stand_in) continue;
            for (const auto token : first_tokens(batch)) seen[stream.epoch()].insert(token);
          }
        }
        for (const std::int64_t epoch : {0, 1}) {
          EXPECT_EQ(seen[epoch].size(), static_cast<std::size_t>(dataset->samples()))
              << form.name << " " << ranks << " " << size;
          EXPECT_EQ(std::set(seen[epoch].begin(), seen[epoch].end()).size(), seen[epoch].size());
        }
      }
    }
  }
}

// The totals that each rank computes alone are the sums over what all ranks really got.
TEST(BatchStream, KnowsTheTargetsOfAllRanksInAStep) {
  for (const Form& form : forms()) {
    for (const bool pad : {true, false}) {
      const auto dataset = dataset_of(form.text, settings_for(4, 1, 0), 1, form.traits);
      constexpr int kRanks = 3, kMicroBatches = 4, kSteps = 7;
      std::vector<data::BatchStream> streams;
      for (int rank = 0; rank < kRanks; ++rank) {
        streams.emplace_back(
            *dataset, data::SamplerOptions{dataset->samples(), kRanks, rank, true, false, 9, pad},
            3, kMicroBatches);
      }
      for (int step = 0; step < kSteps; ++step) {
        data::StepTotals sum;
        std::vector<data::StepTotals> told;
        for (data::BatchStream& stream : streams) {
          for (int i = 0; i < kMicroBatches; ++i) {
            const data::TrainingBatch batch = stream.next();
            sum.targets += batch.counted_targets;
            EXPECT_EQ(batch.counted_targets,
                      batch.targets.ne(model::kIgnoredTarget).sum().item().toLong());
            ++sum.batches;
            sum.stand_ins += batch.is_stand_in ? 1 : 0;
            told.push_back(batch.step);
          }
        }
        for (const data::StepTotals& one : told) {
          EXPECT_EQ(one.targets, sum.targets) << form.name << " step " << step;
          EXPECT_EQ(one.batches, sum.batches);
          EXPECT_EQ(one.stand_ins, sum.stand_ins);
        }
      }
    }
  }
}

TEST(BatchStream, GoesOnExactlyWhereItWasAfterAnyStep) {
  for (const Form& form : forms()) {
    const auto dataset = dataset_of(form.text, settings_for(4, 1, 0), 1, form.traits);
    const data::SamplerOptions options{dataset->samples(), 2, 1, true, false, 3, false};
    constexpr int kMicroBatches = 2, kSteps = 12;
    data::BatchStream whole(*dataset, options, 3, kMicroBatches);
    for (int step = 0; step < kSteps; ++step) {
      data::BatchStream rest(*dataset, options, 3, kMicroBatches);
      rest.go_to(whole.epoch(), whole.batches_drawn());
      for (int i = 0; i < kMicroBatches; ++i) {
        const data::TrainingBatch expected = whole.next(), batch = rest.next();
        EXPECT_TRUE(torch::equal(batch.inputs, expected.inputs)) << form.name << " " << step;
        EXPECT_TRUE(torch::equal(batch.targets, expected.targets));
        EXPECT_EQ(batch.step.targets, expected.step.targets);
      }
      EXPECT_EQ(rest.epoch(), whole.epoch());
      EXPECT_EQ(rest.batches_drawn(), whole.batches_drawn());
    }
    EXPECT_GT(whole.epoch(), 1);
  }
}

// Of uneven data over three epochs: short batches, stand-ins, other widths, new orders.
TEST(BatchLoader, AheadItHandsOutTheSameBatchesAndPositions) {
  for (const Form& form : forms()) {
    const auto dataset = dataset_of(form.text, settings_for(12, 2, 0), 1, form.traits);
    const data::SamplerOptions options{dataset->samples(), 2, 1, true, false, 3, false};
    data::BatchStream plain_stream(*dataset, options, 5), ahead_stream(*dataset, options, 5);
    data::BatchLoader plain(plain_stream, torch::kCPU, false),
        ahead(ahead_stream, torch::kCPU, true);
    std::vector<model::TokenBatch> batches;
    for (int i = 0; i < 12; ++i) {
      const data::TrainingBatch batch = ahead.next(), expected = plain.next();
      EXPECT_TRUE(torch::equal(batch.inputs, expected.inputs)) << form.name << " " << i;
      EXPECT_TRUE(torch::equal(batch.targets, expected.targets)) << i;
      ASSERT_EQ(batch.attention_mask.defined(), expected.attention_mask.defined()) << i;
      if (batch.attention_mask.defined()) {
        EXPECT_TRUE(torch::equal(batch.attention_mask, expected.attention_mask)) << i;
      }
      EXPECT_EQ(batch.is_stand_in, expected.is_stand_in) << i;
      EXPECT_EQ(batch.counted_targets, expected.counted_targets) << i;
      EXPECT_EQ(batch.step.targets, expected.step.targets) << i;
      EXPECT_EQ(ahead.epoch(), plain.epoch()) << i;
      EXPECT_EQ(ahead.batches_drawn(), plain.batches_drawn()) << i;
      batches.push_back(batch);
    }
    const torch::Tensor first = batches[0].inputs.clone();
    for (int i = 0; i < 4; ++i) ahead.next();
    EXPECT_TRUE(torch::equal(batches[0].inputs, first)) << "its memory was used again";
  }
}

TEST(BatchLoader, AheadItGoesOnFromAPosition) {
  const auto dataset = dataset_of(counting_text(4 * 11 + 1), settings_for(4, 2, 0));
  const data::SamplerOptions options{11, 1, 0, true, true, 3};
  data::BatchStream whole_stream(*dataset, options, 2), rest_stream(*dataset, options, 2);
  data::BatchLoader whole(whole_stream, torch::kCPU, true), rest(rest_stream, torch::kCPU, true);
  for (int i = 0; i < 8; ++i) whole.next();
  rest.go_to(whole.epoch(), whole.batches_drawn());
  EXPECT_EQ(rest.epoch(), 1);
  EXPECT_TRUE(torch::equal(rest.next().inputs, whole.next().inputs));
  EXPECT_THROW(rest.go_to(0, 0), c10::Error);
}

}  // namespace
}  // namespace shardlens::trainer
