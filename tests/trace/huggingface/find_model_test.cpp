#include "trace/huggingface/find_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trace/model/shape_text.h"
#include "trace/store/file_system.h"

namespace shardlens::trace {
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
  Error error_of(const std::string& model) {
    const auto found = find_model(model);
    EXPECT_FALSE(found);
    return found ? Error{} : found.error();
  }

  TemporaryFolder temporary_ = std::move(*TemporaryFolder::create());
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

TEST_F(FindModel, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("llama-70b").kind, ErrorKind::kUsage);
  EXPECT_THAT(error_of("gpt-9").message, HasSubstr("tiny"));
  EXPECT_EQ(error_of(temporary_.path() / "nowhere").kind, ErrorKind::kUsage);
  EXPECT_EQ(error_of(temporary_.path()).kind, ErrorKind::kMissing);
  EXPECT_EQ(error_of(folder_with("no JSON")).kind, ErrorKind::kDamaged);
}

TEST_F(FindModel, SaysThatAdaptersAreNoModel) {
  std::ofstream(temporary_.path() / "adapter_config.json") << "{}";
  const Error error = error_of(temporary_.path());
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("adapters alone"));
}

TEST_F(FindModel, StoresWhereAFolderWas) {
  EXPECT_EQ(absolute_model("tiny"), "tiny");
  EXPECT_EQ(absolute_model("a/../b/"), (fs::current_path() / "b").string());
}

TEST(ShapeText, BringsEveryShapeBack) {
  for (const auto list : {model_presets(), planning_presets()}) {
    for (const ModelShape& shape : list) EXPECT_EQ(parse_shape_text(shape_text(shape)), shape);
  }
  ModelShape odd;
  odd.name = "/home/a b/layers=3 x";
  odd.layout = ModelLayout::kRoberta;
  odd.activation = Activation::kRelu;
  odd.layers = odd.heads = odd.width = 7;
  odd.norm_epsilon = 1e-12;
  odd.qk_norm = odd.mlp_bias = true;
  odd.rotary = {3.5, 2, 5, 77, RotaryKind::kYarn, 31, 2, 1.125, false};
  odd.window = 5;
  odd.labels = 3;
  EXPECT_EQ(parse_shape_text(shape_text(odd)), odd);
}

TEST(ShapeText, RefusesOtherTexts) {
  for (const char* text : {"", "name=", "layers=x name=a", "layers=1", "layers=1 width=2 name=a"}) {
    EXPECT_FALSE(parse_shape_text(text)) << text;
  }
  EXPECT_TRUE(parse_shape_text("layers=1 width=2 heads=1 of_tomorrow=7 name=a"));
}

}  // namespace
}  // namespace shardlens::trace
