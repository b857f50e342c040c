#include "trace/job/huggingface/find_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trace/base/file_system.h"

namespace shardlens::trace::job {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kConfig =
    R"({"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16,
        "vocab_size": 300})";

class FindModel : public testing::Test {
 protected:
  fs::path folder_with(const std::string& config) {
    const fs::path folder = temporary_.path() / "my-model";
    fs::create_directories(folder);
    std::ofstream(folder / kConfigFile) << config;
    return folder;
  }
  base::Error error_of(const std::string& model) {
    const auto found = find_model(model);
    EXPECT_FALSE(found);
    return found ? base::Error{} : found.error();
  }

  base::TemporaryFolder temporary_ = std::move(*base::TemporaryFolder::create());
};

TEST_F(FindModel, TakesPresetsAndFolders) {
  EXPECT_EQ(find_model("tiny")->layers, 5);
  const std::string folder = folder_with(kConfig);
  const auto shape = find_model(folder);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->name, folder);
  EXPECT_EQ(shape->mlp_width, 32);
  EXPECT_EQ(find_planned_model(folder)->width, 8);
  EXPECT_EQ(find_planned_model("llama-70b")->layers, 80);
}

TEST_F(FindModel, HasAsManyClassesAsTheJobWants) {
  Settings settings;
  settings.model = folder_with(
      R"({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
          "intermediate_size": 16, "vocab_size": 300, "max_position_embeddings": 16})");
  EXPECT_EQ(find_model(settings)->labels, 2);
  settings.num_labels = 5;
  EXPECT_EQ(find_model(settings)->labels, 5);
  EXPECT_EQ(find_planned_model(settings)->labels, 5);
  settings.model = "tiny";
  const auto refused = find_model(settings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("num_labels: auto"));
}

TEST_F(FindModel, SaysWhichJobsLeaveAModel) {
  Settings settings;
  EXPECT_FALSE(leaves_model(settings));
  settings.lora_rank = 8;
  EXPECT_TRUE(leaves_model(settings));
  settings.save_model = SaveModel::kNone;
  EXPECT_FALSE(leaves_model(settings));
  Settings of_folder;
  of_folder.model = folder_with(kConfig);
  EXPECT_TRUE(leaves_model(of_folder));
}

TEST_F(FindModel, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("llama-70b").kind, base::ErrorKind::kUsage);
  EXPECT_THAT(error_of("gpt-9").message, HasSubstr("tiny"));
  EXPECT_EQ(error_of(temporary_.path() / "nowhere").kind, base::ErrorKind::kUsage);
  EXPECT_EQ(error_of(temporary_.path()).kind, base::ErrorKind::kMissing);
  EXPECT_EQ(error_of(folder_with("no JSON")).kind, base::ErrorKind::kDamaged);
}

TEST_F(FindModel, SaysThatAdaptersAreNoModel) {
  std::ofstream(temporary_.path() / "adapter_config.json") << "{}";
  const base::Error error = error_of(temporary_.path());
  EXPECT_EQ(error.kind, base::ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("adapters alone"));
}

TEST_F(FindModel, StoresWhereAFolderWas) {
  EXPECT_EQ(absolute_model("tiny"), "tiny");
  EXPECT_EQ(absolute_model("a/../b/"), (fs::current_path() / "b").string());
}

TEST_F(FindModel, StoresWhereAllFilesAndFoldersWere) {
  const Settings defaults;
  EXPECT_EQ(with_absolute_paths(defaults), defaults);
  Settings settings;
  settings.data = "texts/";
  settings.resume = "runs/a";
  settings.tokenizer = "bytes";
  settings.token_cache = "off";
  settings.evaluation_data = "builtin";
  settings = with_absolute_paths(settings);
  EXPECT_EQ(settings.data, (fs::current_path() / "texts").string());
  EXPECT_EQ(settings.resume, (fs::current_path() / "runs/a").string());
  EXPECT_EQ(settings.tokenizer, "bytes");
  EXPECT_EQ(settings.token_cache, "off");
  EXPECT_EQ(settings.evaluation_data, "builtin") << "the project's own";
  EXPECT_EQ(with_absolute_paths(settings), settings);
}

}  // namespace
}  // namespace shardlens::trace::job
