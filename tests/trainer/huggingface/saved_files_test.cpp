#include "trainer/huggingface/saved_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/job/huggingface/model_config.h"

namespace shardlens::trainer::huggingface {
namespace {

using nlohmann::json;

TEST(SavedConfig, OfAPresetIsReadBackAsThatPreset) {
  for (const char* name : {"tiny", "gpt-162m", "llama-1b"}) {
    auto shape = *trace::job::find_model_preset(name);
    const auto config = saved_config("", shape, checkpoint::DataType::kF32, {});
    ASSERT_TRUE(config);
    auto back = trace::job::shape_from_config(*config, "config.json");
    ASSERT_TRUE(back) << back.error().message;
    back->name = shape.name;
    back->head_size = 0;
    EXPECT_EQ(*back, shape);
  }
}

TEST(SavedConfig, KeepsWhatTheOriginalSays) {
  trace::job::ModelShape shape;
  shape.layout = trace::job::ModelLayout::kBert;
  shape.labels = 2;
  const auto config = saved_config(
      R"({"model_type": "bert", "architectures": ["BertModel"], "of_its_own": [1], "torch_dtype": "x"})",
      shape, checkpoint::DataType::kBF16, {"no", "yes"});
  ASSERT_TRUE(config);
  const json read = json::parse(*config);
  EXPECT_EQ(read["of_its_own"], json::array({1}));
  EXPECT_EQ(read["architectures"], json::array({"BertForSequenceClassification"}));
  EXPECT_EQ(read["torch_dtype"], "bfloat16");
  EXPECT_EQ(read["id2label"], (json{{"0", "no"}, {"1", "yes"}}));
  EXPECT_EQ(read["label2id"]["yes"], 1);
  EXPECT_FALSE(saved_config("[]", shape, checkpoint::DataType::kF32, {}));
  EXPECT_FALSE(saved_config(R"({"model_type": "mamba"})", shape, checkpoint::DataType::kF32, {}));
}

TEST(SavedConfig, NamesTheClassesThatWereTrained) {
  trace::job::ModelShape shape;
  shape.layout = trace::job::ModelLayout::kBert;
  const std::string original = R"({"model_type": "bert", "id2label": {"0": "no", "1": "yes"}})";
  for (const auto& [classes, first] : {std::pair{2, "no"}, std::pair{3, "LABEL_0"}}) {
    shape.labels = classes;
    const auto config = saved_config(original, shape, checkpoint::DataType::kF32, {});
    ASSERT_TRUE(config);
    const json names = json::parse(*config)["id2label"];
    EXPECT_EQ(names.size(), static_cast<std::size_t>(classes));
    EXPECT_EQ(names["0"], first);
  }
}

TEST(ModelLayout, CutsLargeModelsIntoFiles) {
  const auto shape = *trace::job::find_model_preset("tiny");
  const SavedLayout one = layout_of(shape, checkpoint::DataType::kBF16);
  EXPECT_EQ(one.files.size(), 1u);
  EXPECT_EQ(one.index(), "");
  EXPECT_EQ(one.values, trace::job::parameter_count(shape));
  const SavedLayout several = layout_of(shape, checkpoint::DataType::kBF16, 1'000'000);
  ASSERT_GT(several.files.size(), 3u);
  const json index = json::parse(several.index());
  EXPECT_EQ(index["metadata"]["total_size"], 2 * trace::job::parameter_count(shape));
  std::size_t tensors = 0;
  for (const checkpoint::FileLayout& file : several.files) {
    EXPECT_LE(file.tensors.back().end, 1'000'000);
    for (const checkpoint::TensorEntry& tensor : file.tensors) {
      EXPECT_EQ(index["weight_map"][tensor.name], file.name);
      ++tensors;
    }
  }
  EXPECT_EQ(several.files[0].name.substr(0, 15), "model-00001-of-");
  EXPECT_EQ(tensors, index["weight_map"].size());
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
