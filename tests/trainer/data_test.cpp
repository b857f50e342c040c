#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trainer/data/batch_loader.h"
#include "trainer/data/batch_stream.h"
#include "trainer/data/block_dataset.h"
#include "trainer/data/text_source.h"

namespace shardlens::trainer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Token> counting_tokens(std::int64_t count) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    tokens[static_cast<std::size_t>(i)] = static_cast<Token>(i);
  }
  return tokens;
}

trace::Settings settings_for(std::int64_t length, std::int64_t batch, double evaluation) {
  trace::Settings settings;
  settings.sequence_length = length;
  settings.batch_per_rank = batch;
  settings.evaluation_fraction = evaluation;
  return settings;
}

class TextFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) /
        ("text of " + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string error_of(const std::string& data) {
    const auto tokens = load_tokens(data);
    return tokens ? "" : tokens.error().message;
  }
  fs::path folder_;
};

TEST_F(TextFolder, IsReadRecursivelyInOrderOfPaths) {
  write("b.txt", "B");
  write("a/deep/er.md", "A");
  write("c.bin", "left out for its name");
  write(".hidden/d.txt", "left out for its folder");
  write("e.txt", std::string("left out for the zero byte\0", 27));
  const auto tokens = load_tokens(folder_.string());
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_THAT(*tokens, ElementsAre('A', ByteTokenizer::kEndOfText, 'B', ByteTokenizer::kEndOfText));
}

TEST_F(TextFolder, KeepsEveryByteOfAFileWhateverItsName) {
  write("emoji 🙂 'quoted'", "\xff\x80é");
  const auto tokens = load_tokens((folder_ / "emoji 🙂 'quoted'").string());
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_THAT(*tokens, ElementsAre(0xff, 0x80, 0xc3, 0xa9, ByteTokenizer::kEndOfText));
}

TEST_F(TextFolder, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(error_of((folder_ / "nowhere").string()), HasSubstr("is not there"));
  EXPECT_THAT(error_of(folder_.string()), HasSubstr("holds no text files"));
  write("empty.txt", "");
  EXPECT_THAT(error_of((folder_ / "empty.txt").string()), HasSubstr("is empty"));
  write("binary", std::string("\0\0", 2));
  EXPECT_THAT(error_of((folder_ / "binary").string()), HasSubstr("is binary"));
}

TEST(BuiltinText, IsTheProjectsOwnAndLongEnoughForTheDefaultJob) {
  auto tokens = load_tokens("builtin");
  ASSERT_TRUE(tokens) << tokens.error().message;
  const auto dataset = BlockDataset::create(std::move(*tokens), trace::Settings{}, 2);
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_GT(dataset->training_blocks(), 500);
}

TEST(BlockDataset, ShiftsTargetsByOneTokenAndKeepsTheEndForEvaluation) {
  const auto dataset = BlockDataset::create(counting_tokens(41), settings_for(4, 1, 0.2), 1);
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->training_blocks(), 8);
  EXPECT_EQ(dataset->evaluation_blocks(), 2);
  const auto batch = dataset->batch(std::vector<std::int64_t>{9, 0});
  EXPECT_TRUE(torch::equal(batch.inputs, torch::tensor({{36, 37, 38, 39}, {0, 1, 2, 3}})));
  EXPECT_TRUE(torch::equal(batch.targets, torch::tensor({{37, 38, 39, 40}, {1, 2, 3, 4}})));
}

TEST(BlockDataset, RefusesATextThatIsTooShortForOneStep) {
  // 8 blocks for training: 2 ranks with 4 each are served, with 5 each not.
  EXPECT_TRUE(BlockDataset::create(counting_tokens(41), settings_for(4, 4, 0.2), 2));
  const auto refused = BlockDataset::create(counting_tokens(41), settings_for(4, 5, 0.2), 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("one step needs 10"));
  EXPECT_FALSE(BlockDataset::create({}, settings_for(4, 1, 0), 1));
}

TEST(BlockDataset, RefusesEvaluationWithoutText) {
  auto settings = settings_for(4, 1, 0);
  settings.evaluate_every = 5;
  const auto refused = BlockDataset::create(counting_tokens(41), settings, 1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("evaluation_fraction"));
}

TEST(BlockDataset, TellsTextsApartByTheirChecksum) {
  const auto settings = settings_for(4, 1, 0);
  auto tokens = counting_tokens(41);
  const auto first = BlockDataset::create(tokens, settings, 1)->checksum();
  std::swap(tokens[3], tokens[4]);
  EXPECT_NE(first, BlockDataset::create(tokens, settings, 1)->checksum());
}

TEST(BatchStream, StartsTheNextEpochInANewOrder) {
  const auto dataset = BlockDataset::create(counting_tokens(4 * 11 + 1), settings_for(4, 2, 0), 1);
  BatchStream stream(*dataset, {11, 1, 0, true, true, 3}, 2);
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
  const auto dataset = BlockDataset::create(counting_tokens(4 * 5 + 1), settings_for(4, 1, 0), 1);
  // 5 blocks over 2 ranks in batches of 1: ranks have 3 and 2, and both draw 3 batches.
  for (const int rank : {0, 1}) {
    BatchStream stream(*dataset, {5, 2, rank, false, false, 0, false}, 1);
    EXPECT_EQ(stream.batches_per_epoch(), 3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(stream.next().is_stand_in, rank == 1 && i == 2) << rank << " " << i;
      EXPECT_EQ(stream.epoch(), 0);
    }
    EXPECT_FALSE(stream.next().is_stand_in);
    EXPECT_EQ(stream.epoch(), 1);
  }
}

TEST(BatchStream, KeepsTheShortLastBatchUnlessToldToDropIt) {
  const auto dataset = BlockDataset::create(counting_tokens(4 * 5 + 1), settings_for(4, 2, 0), 1);
  BatchStream stream(*dataset, {5, 1, 0, false, false, 0}, 2);
  EXPECT_EQ(stream.batches_per_epoch(), 3);
  stream.next();
  stream.next();
  EXPECT_EQ(stream.next().inputs.size(0), 1);
}

// Of uneven data over three epochs: short batches, stand-ins, new orders.
TEST(BatchLoader, AheadItHandsOutTheSameBatchesAndPositions) {
  const auto dataset = BlockDataset::create(counting_tokens(4 * 7 + 1), settings_for(4, 2, 0), 1);
  const SamplerOptions options{7, 2, 1, true, false, 3, false};
  BatchStream plain_stream(*dataset, options, 2), ahead_stream(*dataset, options, 2);
  BatchLoader plain(plain_stream, torch::kCPU, false), ahead(ahead_stream, torch::kCPU, true);
  std::vector<TokenBatch> batches;
  for (int i = 0; i < 7; ++i) {
    batches.push_back(ahead.next());
    const TokenBatch expected = plain.next();
    EXPECT_TRUE(torch::equal(batches.back().inputs, expected.inputs)) << i;
    EXPECT_TRUE(torch::equal(batches.back().targets, expected.targets)) << i;
    EXPECT_EQ(batches.back().is_stand_in, expected.is_stand_in) << i;
    EXPECT_EQ(ahead.epoch(), plain.epoch()) << i;
    EXPECT_EQ(ahead.batches_drawn(), plain.batches_drawn()) << i;
  }
  const torch::Tensor first = batches[0].inputs.clone();
  for (int i = 0; i < 4; ++i) ahead.next();
  EXPECT_TRUE(torch::equal(batches[0].inputs, first)) << "its memory was used again";
}

TEST(BatchLoader, AheadItGoesOnFromAPosition) {
  const auto dataset = BlockDataset::create(counting_tokens(4 * 11 + 1), settings_for(4, 2, 0), 1);
  const SamplerOptions options{11, 1, 0, true, true, 3};
  BatchStream whole_stream(*dataset, options, 2), rest_stream(*dataset, options, 2);
  BatchLoader whole(whole_stream, torch::kCPU, true), rest(rest_stream, torch::kCPU, true);
  for (int i = 0; i < 8; ++i) whole.next();
  rest.go_to(whole.epoch(), whole.batches_drawn());
  EXPECT_EQ(rest.epoch(), 1);
  EXPECT_TRUE(torch::equal(rest.next().inputs, whole.next().inputs));
  EXPECT_THROW(rest.go_to(0, 0), c10::Error);
}

}  // namespace
}  // namespace shardlens::trainer
