// What becomes of lines of JSON, with text as bytes: no package is needed for that.
#include "trainer/text/prepared_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/text/text_files.h"
#include "trainer/text/load_text.h"

namespace shardlens::trainer::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PreparedText : public ::testing::Test {
 protected:
  trace::base::Result<EncodedText> load(const std::string& lines) {
    options_.data = files_.write("data.jsonl", lines);
    return load_text(options_, [](const std::string& message) { FAIL() << message; });
  }
  EncodedText good(const std::string& lines) {
    auto text = load(lines);
    EXPECT_TRUE(text) << text.error().message;
    return *std::move(text);
  }
  // Without the file's name and what to do.
  std::string error_of(const std::string& lines) {
    const auto text = load(lines);
    if (text) return "";
    const std::string& message = text.error().message;
    const std::size_t begin = options_.data.size() + 1, end = message.find(". Mend the line");
    EXPECT_TRUE(message.starts_with(options_.data + ":")) << message;
    EXPECT_EQ(text.error().kind, trace::base::ErrorKind::kUsage);
    return message.substr(begin, end - begin);
  }

  TextFiles files_;
  TextOptions options_;
};

std::string text_of(const EncodedText& text, std::int64_t example) {
  const auto begin = text.begin(example), count = text.begin(example + 1) - begin;
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(count));
  text.copy(begin, count, tokens.data());
  std::string letters;
  for (const std::int64_t token : tokens) {
    letters += token == kEndOfBytes ? '$' : static_cast<char>(token);
  }
  return letters;
}

std::string mask_of(const EncodedText& text, std::int64_t example) {
  std::string mask;
  for (auto i = text.begin(example); i < text.begin(example + 1); ++i) {
    mask += text.counts(i) ? '1' : '0';
  }
  return mask;
}

TEST_F(PreparedText, EndsDocuments) {
  const EncodedText text = good("{\"text\": \"\\u0041\\n\\u00e9\"}\n{\"id\": 7, \"text\": \"b\"}");
  EXPECT_EQ(text.kind(), TextKind::kPlain);
  EXPECT_EQ(text_of(text, 0), "A\né$");
  EXPECT_EQ(text_of(text, 1), "b$");
  EXPECT_FALSE(text.has_mask());
  EXPECT_EQ(text.end_of_text(), kEndOfBytes);
  EXPECT_EQ(text.padding(), -1);
  EXPECT_EQ(text.largest_token(), kEndOfBytes);
}

TEST_F(PreparedText, LeavesPromptsOutOfTheLoss) {
  const std::string lines =
      "{\"completion\": \"ab\", \"prompt\": \"xy\"}\n{\"prompt\": \"\", \"completion\": \"z\"}\n";
  const EncodedText text = good(lines);
  EXPECT_EQ(text_of(text, 0), "xyab$");
  EXPECT_EQ(mask_of(text, 0), "00111");
  EXPECT_EQ(mask_of(text, 1), "11");
  EXPECT_EQ(text.counted(0, text.tokens()), 5);
  options_.preparation.completion_only_loss = false;
  EXPECT_EQ(mask_of(good(lines), 0), "11111");
}

// More than one word of 64 bits, and more than the program packs at once.
TEST_F(PreparedText, KeepsTheMaskOfManyTokens) {
  std::string lines, expected, seen;
  for (int i = 0; i < 9000; ++i) {
    const std::string prompt(static_cast<std::size_t>(i % 91), 'p'), answer(1 + i % 77, 'a');
    lines += "{\"prompt\": \"" + prompt + "\", \"completion\": \"" + answer + "\"}\n";
    expected += std::string(prompt.size(), '0') + std::string(answer.size() + 1, '1');
  }
  const EncodedText text = good(lines);
  for (std::int64_t i = 0; i < text.tokens(); ++i) seen += text.counts(i) ? '1' : '0';
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(text.examples(), 9000);
}

TEST_F(PreparedText, WritesConversationsInChatml) {
  const EncodedText text = good(
      R"({"messages": [{"role":"user","content":"hi"},{"role":"assistant","content":"yes\n","name":null}]})");
  const std::string question = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(text_of(text, 0), question + "yes\n<|im_end|>\n");
  EXPECT_EQ(mask_of(text, 0), std::string(question.size(), '0') + std::string(14, '1') + "0");
  EXPECT_EQ(error_of(R"({"messages": [{"role":"user","content":[]}]})"),
            "1: a message has no string \"role\" or no string \"content\"");
}

TEST_F(PreparedText, NumbersNamesInTheirOrder) {
  const std::string lines =
      "{\"text\": \"x\", \"label\": \"sad\"}\n{\"text\": \"y\", \"label\": \"happy\"}\n"
      "{\"text\": \"z\", \"label\": \"sad\"}\n";
  const EncodedText text = good(lines);
  EXPECT_THAT(text.label_names(), ElementsAre("happy", "sad"));
  EXPECT_EQ(text.label(0), 1);
  EXPECT_EQ(text.label(1), 0);
  EXPECT_EQ(text.label(2), 1);
  EXPECT_EQ(text.largest_label(), 1);
  EXPECT_EQ(text_of(text, 0), "x");
  EXPECT_EQ(error_of(lines + "{\"text\": \"z\", \"label\": 1}"),
            "4: its label is a number, those before are names");
  options_.preparation.label_numbers = {{"happy", 0}, {"sad", 5}};
  EXPECT_EQ(good(lines).label(0), 5);
  EXPECT_EQ(
      error_of("{\"text\": \"x\", \"label\": \"maybe\"}"),
      "1: the label \"maybe\" is none of happy, sad, which label2id in the model's config.json or "
      "the training data names; for classes of other names correct label2id, or write all labels "
      "as integers");
  options_.preparation.label_numbers.clear();
  options_.preparation.classes = 2;
  EXPECT_EQ(error_of("{\"text\": \"x\", \"label\": 2}"),
            "1: the label 2 is beyond the model's 2 classes; set num_labels");
}

TEST_F(PreparedText, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(error_of("{"), HasSubstr("is not one JSON object"));
  EXPECT_THAT(error_of(R"({"text": "a"} {"text": "b"})"), HasSubstr("is not one JSON object"));
  EXPECT_THAT(error_of(R"({"text": "a", "n": NaN})"), HasSubstr("NaN is no JSON"));
  EXPECT_THAT(error_of(R"({"text": "\ud800"})"), HasSubstr("half a surrogate pair"));
  EXPECT_THAT(error_of("{\"text\": " + std::string(200000, '[')), HasSubstr("nested too deeply"));
  EXPECT_EQ(error_of("{\"text\": \"\xff\"}"), "1: is not UTF-8");
  EXPECT_EQ(error_of("[1]"), "1: is JSON, but not an object");
  EXPECT_THAT(error_of(R"({"Text": "a"})"), HasSubstr("\"prompt\" and \"completion\""));
  EXPECT_EQ(error_of(R"({"text": ""})"), "1: the text is empty");
  EXPECT_EQ(error_of(R"({"prompt": "a"})"), "1: \"completion\" is missing");
  EXPECT_EQ(error_of(R"({"completion": "a"})"), "1: \"prompt\" is missing");
  EXPECT_EQ(error_of(R"({"prompt": [], "completion": "a"})"), "1: \"prompt\" is not a string");
  EXPECT_EQ(error_of(R"({"label": 1})"), "1: \"text\" is missing");
  for (const char* label : {"null", "0.5", "true", "123456789012345678901234567890"}) {
    EXPECT_EQ(error_of("{\"text\": \"a\", \"label\": " + std::string(label) + "}"),
              "1: \"label\" is neither an integer nor a string");
  }
  EXPECT_EQ(error_of(R"({"text": "a", "label": -1})"), "1: \"label\" is -1; classes begin at 0");
  EXPECT_EQ(error_of(R"({"messages": []})"), "1: \"messages\" is empty");
  EXPECT_EQ(error_of(R"({"messages": "hello"})"), "1: \"messages\" is not a list");
  EXPECT_THAT(error_of(R"({"messages": [{"content": "a"}]})"), HasSubstr("\"role\""));
}

TEST_F(PreparedText, RefusesAnotherKindThanBefore) {
  const std::string labeled = "{\"text\": \"a\", \"label\": 1}\n", plain = "{\"text\": \"a\"}\n";
  EXPECT_EQ(error_of(labeled + plain), "2: \"label\" is missing");
  EXPECT_EQ(error_of(plain + labeled),
            "2: has text and label, but the lines before have text; one data set has one kind");
}

TEST_F(PreparedText, DecodesBytesWithoutTheProgram) {
  TextProgramOptions none;
  none.python = "/no/such/python";
  TextDecoder decoder({}, none);
  EXPECT_EQ(*decoder.decode(std::array<TokenId, 4>{0xff, 0, 'A', kEndOfBytes}),
            std::string("\xff\0A", 3));
}

}  // namespace
}  // namespace shardlens::trainer::text
