#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/chat/chat_template.h"

namespace shardlens::trainer::chat {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTwoTurns =
    R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "one"},
        {"role": "user", "content": "b"}, {"role": "assistant", "content": "two"}])";

Result<ChatText> text_of(std::string_view source, const char* messages = kTwoTurns) {
  const Entries tokens = {{Value::text("eos_token"), Value::text("</s>")}};
  TRY_ASSIGN(const ChatTemplate chat, ChatTemplate::parse(source, tokens));
  TRY_ASSIGN(const Value value, value_from_json(nlohmann::ordered_json::parse(messages)));
  return chat.render_with_answers(value);
}

std::vector<std::string> answers_of(std::string_view source, const char* messages = kTwoTurns) {
  const auto text = text_of(source, messages);
  if (!text) return {"error: " + text.error().message};
  std::vector<std::string> answers;
  for (const ByteRange& range : text->answers) {
    answers.push_back(text->text.substr(range.begin, range.end - range.begin));
  }
  return answers;
}

TEST(Answers, GoFromTheGenerationPromptToTheEndOfTheTurn) {
  EXPECT_THAT(answers_of("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}"
                         "{% if add_generation_prompt %}<assistant>{% endif %}"),
              ElementsAre("one<end>\n", "two<end>\n"));
}

TEST(Answers, AreThoseTheTemplateMarks) {
  EXPECT_THAT(
      answers_of(
          "{% for m in messages %}{% if m.role == 'assistant' %}A{% generation %}{{ m.content }}!"
          "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}"),
      ElementsAre("one!", "two!"));
  EXPECT_THAT(
      text_of(
          "{% macro m(t) %}{% generation %}{{ t }}{% endgeneration %}{% endmacro %}{{ m('a') }}")
          .error()
          .message,
      HasSubstr("inside of a macro"));
}

// As Qwen3: only the last answer keeps its reasoning.
constexpr const char* kDropsReasoning =
    "{% for m in messages %}<{{ m.role }}>"
    "{% if m.role == 'assistant' and not loop.last %}{{ m.content.split('</think>')[-1] }}"
    "{% elif m.role == 'assistant' %}<think>{{ m.content.split('</think>')[0] }}</think>"
    "{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

TEST(Answers, AreFoundWhereEarlierOnesAreChanged) {
  EXPECT_THAT(
      answers_of(
          kDropsReasoning,
          R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "why</think>one"},
                             {"role": "user", "content": "b"}, {"role": "assistant", "content": "so</think>two"}])"),
      ElementsAre("one<end>", "<think>so</think>two<end>"));
}

TEST(Answers, LeaveOutWhatOnlyEndsTheConversation) {
  // As Phi-3: the very end has one more special token.
  EXPECT_THAT(
      answers_of("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
                 "{% if add_generation_prompt %}<assistant>{% else %}{{ eos_token }}{% endif %}"),
      ElementsAre("one<end>", "two<end></s>"));
}

TEST(Answers, AreFoundWithContentInParts) {
  EXPECT_THAT(
      answers_of(
          "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}"
          "<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% else %}{{ eos_token }}{% "
          "endif %}",
          R"([{"role": "user", "content": [{"type": "text", "text": "a"}]},
                             {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
                             {"role": "user", "content": [{"type": "text", "text": "b"}]}])"),
      ElementsAre("one<end>"));
}

TEST(Answers, OfUncertainPlaceAreAnError) {
  // The answer is said twice and its length changes what comes before it.
  const auto text = text_of(
      "{% for m in messages %}{{ messages[1].content }}{{ m.content }}{{ loop.length }}{% endfor "
      "%}");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("the answer of message 2"));
}

TEST(Answers, AreNoneWithoutAnAssistant) {
  EXPECT_THAT(answers_of("{% for m in messages %}{{ m.content }}{% endfor %}",
                         R"([{"role": "user", "content": "a"}])"),
              ElementsAre());
}

TEST(Answers, CountBytes) {
  const auto text =
      text_of("{% for m in messages %}{{ m.content }}|{% endfor %}",
              R"([{"role": "user", "content": "äö"}, {"role": "assistant", "content": "ü"}])");
  ASSERT_TRUE(text);
  EXPECT_THAT(text->answers, ElementsAre(ByteRange{5, 8}));
}

}  // namespace
}  // namespace shardlens::trainer::chat
