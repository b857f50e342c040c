#include "trainer/chat/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace shardlens::trainer::chat {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ChatTemplateFolder : public ::testing::Test {
 protected:
  ChatTemplateFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / ("chat_template_" + std::string(test->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ChatTemplateFolder() override { fs::remove_all(folder_); }

  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::string rendered() const {
    const auto loaded = ChatTemplate::load(folder_);
    if (!loaded) return "error: " + loaded.error().message;
    const auto messages =
        value_from_json(nlohmann::ordered_json::parse(R"([{"role": "user", "content": "hi"}])"));
    const auto text = loaded->render(*messages);
    return text ? *text : "error: " + text.error().message;
  }

  fs::path folder_;
};

TEST_F(ChatTemplateFolder, PrefersTheFileOfTheTemplate) {
  write("chat_template.jinja", "{{ bos_token }}file {{ messages[0].content }}{{ eos_token }}");
  write("tokenizer_config.json",
        R"({"chat_template": "config", "bos_token": "<s>", "eos_token": {"content": "</s>"}})");
  EXPECT_EQ(rendered(), "<s>file hi</s>");
}

TEST_F(ChatTemplateFolder, TakesTheTemplateNamedDefault) {
  write(
      "tokenizer_config.json",
      R"({"chat_template": [{"name": "rag", "template": "no"}, {"name": "default", "template": "yes"}]})");
  EXPECT_EQ(rendered(), "yes");
  write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "no"}]})");
  EXPECT_THAT(rendered(), HasSubstr("there are: rag"));
}

TEST_F(ChatTemplateFolder, ReadsTokensFromTheOlderFile) {
  write("tokenizer_config.json", R"({"chat_template": "{{ bos_token }}"})");
  write("special_tokens_map.json", R"({"bos_token": {"content": "<b>"}})");
  EXPECT_EQ(rendered(), "<b>");
}

TEST_F(ChatTemplateFolder, SaysWhatToDoWithoutATemplate) {
  write("tokenizer_config.json", "{}");
  EXPECT_THAT(rendered(), HasSubstr("has no chat template"));
  EXPECT_THAT(rendered(), HasSubstr("'prompt' and 'completion'"));
}

TEST_F(ChatTemplateFolder, SaysWhereATemplateIsWrong) {
  write("chat_template.jinja", "\n{% foo %}");
  EXPECT_THAT(rendered(), HasSubstr("chat_template.jinja"));
  EXPECT_THAT(rendered(), HasSubstr("line 2: the tag 'foo'"));
  write("chat_template.jinja", "\n{{ raise_exception('no') }}");
  EXPECT_EQ(rendered(), "error: the chat template, line 2: no");
  fs::remove(folder_ / "chat_template.jinja");
  write("tokenizer_config.json", "{");
  EXPECT_THAT(rendered(), HasSubstr("is no JSON object"));
}

TEST(ChatTemplate, LeavesOutKeysWithoutAValue) {
  const auto chat = ChatTemplate::parse("{{ messages[0] }}", {});
  const auto messages = value_from_json(nlohmann::ordered_json::parse(
      R"([{"role": "assistant", "tool_calls": null, "reasoning": "so"}])"));
  EXPECT_EQ(
      *chat->render(*messages),
      "{'thinking': 'so', 'role': 'assistant', 'reasoning': 'so', 'reasoning_content': 'so'}");
}

TEST(ChatTemplate, RefusesWhatIsNoConversation) {
  const auto chat = ChatTemplate::parse("x", {});
  EXPECT_FALSE(chat->render(Value::list({})));
  EXPECT_FALSE(chat->render(Value::text("x")));
  EXPECT_FALSE(chat->render(Value::list({Value::text("x")})));
}

}  // namespace
}  // namespace shardlens::trainer::chat
