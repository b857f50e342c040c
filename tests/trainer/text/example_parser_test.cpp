#include "trainer/text/example_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trainer {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view line, std::optional<TextKind> expected = std::nullopt) {
  ExampleParser parser;
  const auto example = parser.parse(line, expected);
  return example ? "" : example.error().message;
}

TEST(ExampleParser, KnowsTheKindByItsKeys) {
  ExampleParser parser;
  EXPECT_EQ(parser.parse(R"({"text": "é\n\u0041"})", {})->text, "é\nA");
  const auto completion = parser.parse(R"({"id": 7, "completion": "c", "prompt": "p"})", {});
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->kind, TextKind::kCompletion);
  EXPECT_EQ(completion->prompt + completion->completion, "pc");
  const auto named = parser.parse(R"({"text": "t", "label": "good"})", {});
  EXPECT_EQ(std::get<std::string>(named->label), "good");
  EXPECT_EQ(std::get<std::int64_t>(parser.parse(R"({"text": "t", "label": 3})", {})->label), 3);
  const auto chat = parser.parse(
      R"( {"messages": [ {"role": "user", "content": "a \" b", "name": null} ]} )", {});
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->messages, R"([{"role":"user","content":"a \" b","name":null}])");
}

TEST(ExampleParser, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(error_of("{"), HasSubstr("is not one JSON object"));
  EXPECT_THAT(error_of(R"({"text": "a"} {"text": "b"})"), HasSubstr("is not one JSON object"));
  EXPECT_THAT(error_of("{\"text\": \"\xff\"}"), HasSubstr("is not UTF-8"));
  EXPECT_EQ(error_of("[1]"), "is JSON, but not an object");
  EXPECT_THAT(error_of(R"({"Text": "a"})"), HasSubstr("\"prompt\" and \"completion\""));
  EXPECT_EQ(error_of(R"({"prompt": "a"})"), "\"completion\" is missing");
  EXPECT_EQ(error_of(R"({"completion": "a"})"), "\"prompt\" is missing");
  EXPECT_EQ(error_of(R"({"prompt": [], "completion": "a"})"), "\"prompt\" is not a string");
  EXPECT_EQ(error_of(R"({"label": 1})"), "\"text\" is missing");
  EXPECT_EQ(error_of(R"({"text": "a", "label": null})"),
            "\"label\" is neither an integer nor a string");
  EXPECT_THAT(error_of(R"({"text": "a", "label": 0.5})"), HasSubstr("neither an integer"));
  EXPECT_EQ(error_of(R"({"text": "a", "label": -1})"), "\"label\" is -1; classes begin at 0");
  EXPECT_EQ(error_of(R"({"messages": []})"), "\"messages\" is empty");
  EXPECT_EQ(error_of(R"({"messages": "hello"})"), "\"messages\" is not a list");
  EXPECT_THAT(error_of(R"({"messages": [{"content": "a"}]})"), HasSubstr("\"role\""));
}

TEST(ExampleParser, RefusesAnotherKindThanBefore) {
  EXPECT_EQ(error_of(R"({"text": "a"})", TextKind::kLabeled), "\"label\" is missing");
  EXPECT_THAT(error_of(R"({"text": "a", "label": 1})", TextKind::kPlain),
              HasSubstr("has text and label, but the lines before have text"));
  EXPECT_THAT(error_of(R"({"messages": [{"role": "user"}]})", TextKind::kCompletion),
              HasSubstr("one data set has one kind"));
}

TEST(ExampleParser, IsReadyForTheNextLineAfterABadOne) {
  ExampleParser parser;
  EXPECT_FALSE(parser.parse("{\"text\": ", {}));
  EXPECT_FALSE(parser.knew_no_key());
  EXPECT_FALSE(parser.parse("{}", {}));
  EXPECT_TRUE(parser.knew_no_key());
  EXPECT_EQ(parser.parse(R"({"text": "fine"})", {})->text, "fine");
}

}  // namespace
}  // namespace shardlens::trainer
