#include "trainer/huggingface/chat_templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/huggingface/model_folder.h"

namespace shardlens::trainer::huggingface {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ChatTemplates, AreThoseInFilesElseThoseOfTheConfiguration) {
  const ModelFolder folder;
  EXPECT_THAT(read_chat_templates(folder.path()), IsEmpty());
  folder.write("tokenizer_config.json", R"({"chat_template": null})");
  EXPECT_THAT(read_chat_templates(folder.path()), IsEmpty());
  folder.write("tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_THAT(read_chat_templates(folder.path()), ElementsAre(Pair("default", "one")));
  folder.write("tokenizer_config.json",
               R"({"chat_template": [{"name": "tool_use", "template": "two"}, 3, {"name": 4},
                   {"name": "../out", "template": "x"}, {"name": "default", "template": "one"}]})");
  EXPECT_THAT(read_chat_templates(folder.path()),
              ElementsAre(Pair("default", "one"), Pair("tool_use", "two")));
  folder.write("chat_template.jinja", "file");
  EXPECT_THAT(read_chat_templates(folder.path()), ElementsAre(Pair("default", "file")));
  std::filesystem::create_directory(folder.path() / "additional_chat_templates");
  folder.write(chat_template_file("tool_use"), "second file");
  EXPECT_THAT(read_chat_templates(folder.path()),
              ElementsAre(Pair("default", "file"), Pair("tool_use", "second file")));
}

TEST(ChatTemplates, AreTheTokenizersIfItHasSome) {
  const ModelFolder tokenizer, model;
  model.write("chat_template.jinja", "the model's");
  EXPECT_EQ(chat_folder({}, {}), "");
  EXPECT_EQ(chat_folder({}, model.path()), model.path());
  EXPECT_EQ(chat_folder(tokenizer.path(), model.path()), model.path());
  EXPECT_EQ(chat_folder(tokenizer.path(), {}), "") << "a preset";
  tokenizer.write("chat_template.jinja", "the tokenizer's");
  EXPECT_EQ(chat_folder(tokenizer.path(), model.path()), tokenizer.path());
  EXPECT_EQ(chat_folder(tokenizer.path() / "tokenizer.json", model.path()), tokenizer.path());
}

TEST(ChatTemplates, AreTheModelsIfOnlyItHasOneForAllConversations) {
  const ModelFolder tokenizer, model;
  tokenizer.write("tokenizer_config.json",
                  R"({"chat_template": [{"name": "tool_use", "template": "tools"}]})");
  EXPECT_EQ(chat_folder(tokenizer.path(), model.path()), tokenizer.path());
  EXPECT_EQ(chat_folder(tokenizer.path(), {}), tokenizer.path()) << "which says what is wrong";
  model.write("chat_template.jinja", "the model's");
  EXPECT_EQ(chat_folder(tokenizer.path(), model.path()), model.path());
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
