#include "trainer/sample_writer.h"

#include <gtest/gtest.h>

#include "tests/trainer/encoded_texts.h"
#include "tests/trainer/sharded_training.h"
#include "trainer/text/byte_tokenizer.h"

namespace shardlens::trainer {
namespace {

trace::Settings settings_with_samples() {
  trace::Settings settings;
  settings.sample_tokens = 5;
  settings.evaluate_every = 1;
  settings.batch_per_rank = 1;
  settings.sequence_length = 12;
  settings.evaluation_fraction = 0.5;
  return settings;
}

std::vector<TokenId> tokens_of(std::string_view text) {
  std::vector<TokenId> tokens;
  ByteTokenizer().encode(text, false, tokens);
  return tokens;
}

TokenDataset dataset_of(EncodedText text, const trace::Settings& settings) {
  auto dataset = TokenDataset::create(std::move(text), std::nullopt, settings, {301, 0, 0}, 1);
  EXPECT_TRUE(dataset) << dataset.error().message;
  return *std::move(dataset);
}

std::string sample(const TokenDataset& dataset, const trace::Settings& settings) {
  const ByteTokenizer tokenizer;
  const auto writer = SampleWriter::create(settings, dataset, tokenizer);
  EXPECT_TRUE(writer) << writer.error().message;
  const auto model = initial_model({});
  FakeStrategy strategy({});
  GenerationOptions options;
  options.tokens = settings.sample_tokens;
  options.context = 16;
  return writer->write(*model, strategy, options);
}

TEST(SampleWriter, AsksTheQuestionOfTheFirstHeldOutExample) {
  const auto settings = settings_with_samples();
  const auto dataset = dataset_of(encoded(TextKind::kCompletion, {{tokens_of("one:1"), "00001"},
                                                                  {tokens_of("two:2!"), "000011"}}),
                                  settings);
  EXPECT_TRUE(sample(dataset, settings).starts_with("two: → "));
}

TEST(SampleWriter, GoesOnFromTheBeginningOfPlainText) {
  const auto settings = settings_with_samples();
  const auto dataset = dataset_of(
      encoded(TextKind::kPlain, {{tokens_of("abcdefghijklmnopqrstuvwxyz"), ""}}), settings);
  // Blocks of 12: the second begins with "m", of which half are shown.
  EXPECT_TRUE(sample(dataset, settings).starts_with("mnopqr → ")) << sample(dataset, settings);
}

TEST(SampleWriter, TakesThePromptOfTheSettings) {
  auto settings = settings_with_samples();
  settings.sample_prompt = "Say\nit";
  const auto dataset = dataset_of(
      encoded(TextKind::kPlain, {{tokens_of("abcdefghijklmnopqrstuvwxyz"), ""}}), settings);
  EXPECT_TRUE(sample(dataset, settings).starts_with("Say\\nit → "));
  settings.sample_prompt = "";
  const auto refused = SampleWriter::create(settings, dataset, ByteTokenizer());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::ErrorKind::kUsage);
}

TEST(SampleWriter, IsOffUnlessAskedFor) {
  auto settings = settings_with_samples();
  const auto dataset = dataset_of(
      encoded(TextKind::kPlain, {{tokens_of("abcdefghijklmnopqrstuvwxyz"), ""}}), settings);
  const ByteTokenizer tokenizer;
  EXPECT_TRUE(SampleWriter::create(settings, dataset, tokenizer)->is_on());
  settings.sample_tokens = 0;
  EXPECT_FALSE(SampleWriter::create(settings, dataset, tokenizer)->is_on());
}

TEST(SampleWriter, WritesWhatCannotStandInALine) {
  EXPECT_EQ(one_line("a\n\tb\x1b\x7f é\xff"), "a\\n\\tb\\x1b\\x7f é\xEF\xBF\xBD");
}

}  // namespace
}  // namespace shardlens::trainer
