#include "trainer/evaluate/sample_writer.h"

#include <gtest/gtest.h>

#include "tests/trainer/data/encoded_texts.h"
#include "tests/trainer/strategy/sharded_training.h"
#include "trainer/text/prepared_text.h"

namespace shardlens::trainer::evaluate {
namespace {

trace::job::Settings settings_with_samples() {
  trace::job::Settings settings;
  settings.sample_tokens = 5;
  settings.evaluate_every = 1;
  settings.batch_per_rank = 1;
  settings.sequence_length = 12;
  settings.evaluation_fraction = 0.5;
  return settings;
}

SampleText bytes(const trace::job::Settings& settings) {
  return {text::byte_tokens(settings.sample_prompt), text::kEndOfBytes, text::TextDecoder({}, {})};
}

data::TokenDataset prompts_of(text::EncodedText text, const trace::job::Settings& settings) {
  auto dataset =
      data::TokenDataset::create(std::move(text), std::nullopt, settings, {301, 0, 0}, 1);
  EXPECT_TRUE(dataset) << dataset.error().message;
  return *std::move(dataset);
}

std::string sample(const data::TokenDataset& dataset, const trace::job::Settings& settings) {
  auto writer = SampleWriter::create(settings, dataset, bytes(settings));
  EXPECT_TRUE(writer) << writer.error().message;
  const auto model = initial_model({});
  FakeStrategy strategy({});
  GenerationOptions options;
  options.tokens = settings.sample_tokens;
  options.context = 16;
  return *writer->text_of(writer->write(*model, strategy, options));
}

TEST(SampleWriter, AsksTheQuestionOfTheFirstHeldOutExample) {
  const auto settings = settings_with_samples();
  const auto dataset = prompts_of(
      encoded(text::TextKind::kCompletion,
              {{text::byte_tokens("one:1"), "00001"}, {text::byte_tokens("two:2!"), "000011"}}),
      settings);
  EXPECT_TRUE(sample(dataset, settings).starts_with("two: → "));
}

TEST(SampleWriter, GoesOnFromTheBeginningOfPlainText) {
  const auto settings = settings_with_samples();
  const auto dataset = prompts_of(
      encoded(text::TextKind::kPlain, {{text::byte_tokens("abcdefghijklmnopqrstuvwxyz"), ""}}),
      settings);
  // Blocks of 12: the second begins with "m", of which half are shown.
  EXPECT_TRUE(sample(dataset, settings).starts_with("mnopqr → ")) << sample(dataset, settings);
}

TEST(SampleWriter, TakesThePromptOfTheSettings) {
  auto settings = settings_with_samples();
  settings.sample_prompt = "Say\nit";
  const auto dataset = prompts_of(
      encoded(text::TextKind::kPlain, {{text::byte_tokens("abcdefghijklmnopqrstuvwxyz"), ""}}),
      settings);
  EXPECT_TRUE(sample(dataset, settings).starts_with("Say\\nit → "));
  settings.sample_prompt = "";
  const auto refused = SampleWriter::create(settings, dataset, bytes(settings));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
}

// As of a tokenizer to which tokens were added, with a model that was not enlarged.
TEST(SampleWriter, RefusesAPromptOfTokensThatTheModelDoesNotHave) {
  auto settings = settings_with_samples();
  settings.sample_prompt = "<|added|>";
  const auto dataset = prompts_of(
      encoded(text::TextKind::kPlain, {{text::byte_tokens("abcdefghijklmnopqrstuvwxyz"), ""}}),
      settings);
  const auto writer_of = [&](text::TokenId token) {
    return SampleWriter::create(settings, dataset, {{1, token, 2}, -1, text::TextDecoder({}, {})});
  };
  EXPECT_TRUE(writer_of(300));
  const auto refused = writer_of(301);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("token 301 for sample_prompt"), std::string::npos);
}

TEST(SampleWriter, IsOffUnlessAskedFor) {
  auto settings = settings_with_samples();
  const auto dataset = prompts_of(
      encoded(text::TextKind::kPlain, {{text::byte_tokens("abcdefghijklmnopqrstuvwxyz"), ""}}),
      settings);
  EXPECT_TRUE(SampleWriter::create(settings, dataset, bytes(settings))->is_on());
  settings.sample_tokens = 0;
  EXPECT_FALSE(SampleWriter::create(settings, dataset, bytes(settings))->is_on());
}

// The program that decodes may end at any time.
TEST(SampleWriter, SaysThatItsTokenizerIsGone) {
  const auto settings = settings_with_samples();
  const auto dataset = prompts_of(
      encoded(text::TextKind::kPlain, {{text::byte_tokens("abcdefghijklmnopqrstuvwxyz"), ""}}),
      settings);
  text::TextProgramOptions program;
  program.python = "/bin/false";
  auto writer =
      SampleWriter::create(settings, dataset, {{}, -1, text::TextDecoder("/folder", program)});
  ASSERT_TRUE(writer);
  for (int i = 0; i < 2; ++i) {
    const auto text = writer->text_of({{1}, {2}});
    ASSERT_FALSE(text);
    EXPECT_NE(text.error().message.find("left with exit code 1"), std::string::npos);
  }
}

TEST(SampleWriter, WritesWhatCannotStandInALine) {
  EXPECT_EQ(one_line("a\n\tb\x1b\x7f é\xff"), "a\\n\\tb\\x1b\\x7f é\xEF\xBF\xBD");
}

}  // namespace
}  // namespace shardlens::trainer::evaluate
