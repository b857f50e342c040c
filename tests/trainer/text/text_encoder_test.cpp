#include "trainer/text/text_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/text/letter_tokenizer.h"
#include "trainer/text/byte_tokenizer.h"
#include "trainer/text/chatml.h"
#include "trainer/text/encoded_text.h"

namespace shardlens::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr TokenId kBegin = LetterTokenizer::kBegin, kAb = LetterTokenizer::kAb,
                  kEnd = LetterTokenizer::kEnd, kTail = LetterTokenizer::kTail;

// Encodes examples and lets one look at the result.
class Encoding {
 public:
  explicit Encoding(const Tokenizer& tokenizer, EncodingOptions options = {})
      : options_(std::move(options)),
        writer_(TokenWriter::to_memory(tokenizer.vocabulary())),
        encoder_(tokenizer, options_, writer_) {}

  std::string add(const TextExample& example) {
    const auto added = encoder_.add(example);
    return added ? "" : added.error().message;
  }
  EncodedText text() {
    const auto names = encoder_.finish();
    return *EncodedText::from(*writer_.finish(1, names, {}), 1);
  }
  TokenWriter& writer() { return writer_; }

 private:
  EncodingOptions options_;
  TokenWriter writer_;
  TextEncoder encoder_;
};

std::vector<std::int64_t> tokens_of(const EncodedText& text, std::int64_t example) {
  const auto begin = text.begin(example), end = text.begin(example + 1);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(end - begin));
  text.copy(begin, end - begin, tokens.data());
  return tokens;
}

std::string mask_of(const EncodedText& text, std::int64_t example) {
  std::string mask;
  for (auto i = text.begin(example); i < text.begin(example + 1); ++i) {
    mask += text.counts(i) ? '1' : '0';
  }
  return mask;
}

TextExample completion(std::string prompt, std::string answer) {
  return {TextKind::kCompletion, "", std::move(prompt), std::move(answer), "", {}};
}

TextExample labeled(std::string text, TextLabel label) {
  return {TextKind::kLabeled, std::move(text), "", "", "", std::move(label)};
}

TEST(TextEncoder, EndsDocumentsOnce) {
  const LetterTokenizer tokenizer;
  Encoding encoding(tokenizer);
  EXPECT_EQ(encoding.add({TextKind::kPlain, "xab", "", "", "", {}}), "");
  EXPECT_EQ(encoding.add({TextKind::kPlain, "", "", "", "", {}}), "the text is empty");
  const EncodedText text = encoding.text();
  EXPECT_EQ(text.examples(), 1);
  EXPECT_THAT(tokens_of(text, 0), ElementsAre(kBegin, 'x', kAb, kEnd));
  EXPECT_FALSE(text.has_mask());
}

TEST(TextEncoder, LeavesPromptsOutOfTheLoss) {
  const LetterTokenizer tokenizer;
  Encoding encoding(tokenizer);
  encoding.add(completion("xy", "ab"));
  encoding.add(completion("", "z"));
  const EncodedText text = encoding.text();
  EXPECT_THAT(tokens_of(text, 0), ElementsAre(kBegin, 'x', 'y', kAb, kEnd));
  EXPECT_EQ(mask_of(text, 0), "00011");
  EXPECT_EQ(mask_of(text, 1), "011");
  EXPECT_EQ(text.counted(0, text.tokens()), 4);

  EncodingOptions everything;
  everything.completion_only_loss = false;
  Encoding with_prompts(tokenizer, everything);
  with_prompts.add(completion("xy", "ab"));
  EXPECT_EQ(mask_of(with_prompts.text(), 0), "11111");
}

// "a" + "b" becomes one token: the prompt alone has two tokens (begin, "a"), so two are left out.
TEST(TextEncoder, CountsTokensThatCrossFromThePromptIntoTheCompletion) {
  const LetterTokenizer tokenizer;
  Encoding encoding(tokenizer);
  encoding.add(completion("a", "bc"));
  EXPECT_EQ(encoding.writer().counts().crossed_boundaries, 1);
  const EncodedText text = encoding.text();
  EXPECT_THAT(tokens_of(text, 0), ElementsAre(kBegin, kAb, 'c', kEnd));
  EXPECT_EQ(mask_of(text, 0), "0011");
}

// What the tokenizer puts behind a text stands behind the completion, not behind the prompt.
TEST(TextEncoder, APromptHasNoTail) {
  const LetterTokenizer tokenizer(/*has_tail=*/true);
  Encoding encoding(tokenizer);
  encoding.add(completion("x", "y"));
  const EncodedText text = encoding.text();
  EXPECT_THAT(tokens_of(text, 0), ElementsAre(kBegin, 'x', 'y', kTail, kEnd));
  EXPECT_EQ(mask_of(text, 0), "00111");
}

TEST(TextEncoder, OfAConversationTokensThatEndInAnAnswerCount) {
  const LetterTokenizer tokenizer;
  EncodingOptions options;
  // Text u[a|bx]ab[yab]z: the first answer begins within a token, the second ends with one.
  options.render = [](std::string_view) -> trace::Result<ConversationText> {
    return ConversationText{"uabxabyabz", {{2, 4}, {6, 9}}};
  };
  Encoding encoding(tokenizer, options);
  EXPECT_EQ(encoding.add({TextKind::kChat, "", "", "", "[]", {}}), "");
  const EncodedText text = encoding.text();
  EXPECT_THAT(tokens_of(text, 0), ElementsAre('u', kAb, 'x', kAb, 'y', kAb, 'z'));
  EXPECT_EQ(mask_of(text, 0), "0110110");
}

TEST(TextEncoder, AnAnswerThatEndsWithinATokenLeavesItOut) {
  const LetterTokenizer tokenizer;
  EncodingOptions options;
  options.render = [](std::string_view) -> trace::Result<ConversationText> {
    return ConversationText{"xyab", {{1, 3}}};
  };
  Encoding encoding(tokenizer, options);
  encoding.add({TextKind::kChat, "", "", "", "[]", {}});
  EXPECT_EQ(mask_of(encoding.text(), 0), "010");
}

TEST(TextEncoder, ConversationsNeedAWayToWriteThem) {
  const LetterTokenizer tokenizer;
  Encoding encoding(tokenizer);
  EXPECT_THAT(encoding.add({TextKind::kChat, "", "", "", "[]", {}}), HasSubstr("no chat template"));
}

TEST(TextEncoder, NumbersNamesInTheirOrder) {
  const LetterTokenizer tokenizer(/*has_tail=*/true);
  Encoding encoding(tokenizer);
  encoding.add(labeled("x", "sad"));
  encoding.add(labeled("y", "happy"));
  encoding.add(labeled("z", "sad"));
  EXPECT_THAT(encoding.add(labeled("z", std::int64_t{1})), HasSubstr("its label is a number"));
  const EncodedText text = encoding.text();
  EXPECT_THAT(text.label_names(), ElementsAre("happy", "sad"));
  EXPECT_EQ(text.label(0), 1);
  EXPECT_EQ(text.label(1), 0);
  EXPECT_EQ(text.label(2), 1);
  EXPECT_EQ(text.largest_label(), 1);
  EXPECT_EQ(text.tail_tokens(), 1);
  EXPECT_THAT(tokens_of(text, 0), ElementsAre(kBegin, 'x', kTail));
}

TEST(TextEncoder, TakesTheModelsNumbersOfNames) {
  const LetterTokenizer tokenizer;
  EncodingOptions options;
  options.label_numbers = {{"no", 0}, {"yes", 1}};
  Encoding encoding(tokenizer, options);
  EXPECT_EQ(encoding.add(labeled("x", "yes")), "");
  EXPECT_EQ(encoding.add(labeled("x", "maybe")), "the label \"maybe\" is none of no, yes");
  const EncodedText text = encoding.text();
  EXPECT_EQ(text.label(0), 1);
  EXPECT_THAT(text.label_names(), ElementsAre("no", "yes"));
}

TEST(TextEncoder, RefusesLabelsBeyondTheModelsClasses) {
  const LetterTokenizer tokenizer;
  EncodingOptions options;
  options.classes = 2;
  Encoding encoding(tokenizer, options);
  EXPECT_EQ(encoding.add(labeled("x", std::int64_t{1})), "");
  EXPECT_THAT(encoding.add(labeled("x", std::int64_t{2})),
              HasSubstr("the label 2 is beyond the model's 2 classes"));
}

TEST(Chatml, MarksAnswersWithTheirEnd) {
  const auto text =
      render_chatml(R"([{"role":"user","content":"hi"},{"role":"assistant","content":"yes\n"}])");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->text, "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes\n<|im_end|>\n");
  ASSERT_EQ(text->answers.size(), 1);
  const auto [begin, end] = text->answers.front();
  EXPECT_EQ(text->text.substr(begin, end - begin), "yes\n<|im_end|>");
  EXPECT_FALSE(render_chatml(R"([{"role":"user","content":[]}])"));
}

TEST(ByteTokenizer, IsTheBytesAndBack) {
  const ByteTokenizer tokenizer;
  std::vector<TokenId> tokens;
  tokenizer.encode(std::string_view("\xff\0A", 3), true, tokens);
  EXPECT_THAT(tokens, ElementsAre(0xff, 0, 'A'));
  tokens.push_back(ByteTokenizer::kEndOfText);
  EXPECT_EQ(tokenizer.decode(tokens, true), std::string("\xff\0A", 3));
  EXPECT_THAT(tokenizer.decode(tokens, false), HasSubstr("<|endoftext|>"));
}

}  // namespace
}  // namespace shardlens::trainer
