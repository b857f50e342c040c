#include "trainer/huggingface/checkpoint_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/huggingface/model_folder.h"

namespace shardlens::trainer::huggingface {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<StoredTensor> stored_of(const trace::job::ModelShape& shape) {
  std::vector<StoredTensor> stored;
  for (const auto& each : trace::job::parameter_shapes(shape))
    stored.push_back({each.name, each.sizes, "F32"});
  return stored;
}

trace::job::ModelShape bert_shape() {
  trace::job::ModelShape shape = folder_shape();
  shape.layout = trace::job::ModelLayout::kBert;
  shape.tied_head = false;
  shape.token_types = 2;
  shape.padding_token = 0;
  shape.labels = 3;
  return shape;
}

std::string error_of(const trace::job::ModelShape& shape, const std::vector<StoredTensor>& stored) {
  const auto matched = match_names(shape, stored, "\"folder\"");
  return matched ? "accepted" : matched.error().message;
}

TEST(CheckpointNames, MatchThoseOfABareModel) {
  auto stored = stored_of(folder_shape());
  for (auto& each : stored) each.name = each.name.substr(std::string("transformer.").size());
  stored.push_back({"h.0.attn.bias", {1, 1, 16, 16}, "BOOL"});
  stored.push_back({"h.1.attn.masked_bias", {}, "F32"});
  const auto matched = match_names(folder_shape(), stored, "");
  ASSERT_TRUE(matched) << matched.error().message;
  EXPECT_EQ(matched->stored.size(), stored.size() - 2);
  EXPECT_EQ(matched->stored.at("transformer.wte.weight"), 0u);
}

TEST(CheckpointNames, TakeTheHeadForAnEmbeddingThatIsNotThere) {
  auto stored = stored_of(folder_shape());
  stored.push_back(stored[0]);
  stored.back().name = "lm_head.weight";
  ASSERT_TRUE(match_names(folder_shape(), stored, ""));
  stored.erase(stored.begin());
  const auto matched = match_names(folder_shape(), stored, "");
  ASSERT_TRUE(matched) << matched.error().message;
  EXPECT_EQ(matched->stored.at("transformer.wte.weight"), stored.size() - 1);
}

TEST(CheckpointNames, AllowAClassifierWithoutAHead) {
  std::vector<StoredTensor> stored;
  for (auto& each : stored_of(bert_shape())) {
    if (each.name.starts_with("classifier") || each.name.starts_with("bert.pooler")) continue;
    const auto at = each.name.find("LayerNorm.weight");
    if (at != std::string::npos) each.name.replace(at, 16, "LayerNorm.gamma");
    stored.push_back(each);
  }
  stored.push_back({"cls.predictions.bias", {30}, "F32"});
  const auto matched = match_names(bert_shape(), stored, "");
  ASSERT_TRUE(matched) << matched.error().message;
  EXPECT_EQ(matched->fresh.size(), 4u);
  EXPECT_EQ(matched->other_classes, 0);
  EXPECT_THAT(matched->fresh, Contains("classifier.weight"));
}

TEST(CheckpointNames, GiveANewHeadForOtherClasses) {
  const trace::job::ModelShape bert = bert_shape();
  trace::job::ModelShape roberta = bert;
  roberta.layout = trace::job::ModelLayout::kRoberta;
  for (trace::job::ModelShape shape : {bert, roberta}) {
    const auto stored = stored_of(shape);
    shape.labels = 5;
    const auto matched = match_names(shape, stored, "");
    ASSERT_TRUE(matched) << matched.error().message;
    EXPECT_EQ(matched->fresh.size(), 2u) << "its weight and its bias";
    EXPECT_EQ(matched->other_classes, 3);
    EXPECT_EQ(matched->stored.size(), stored.size() - 2);
    for (const std::string& name : matched->fresh) EXPECT_THAT(name, HasSubstr("classifier."));
  }
  auto wider = stored_of(bert);
  wider.back().sizes.push_back(2);
  EXPECT_THAT(error_of(bert, wider), HasSubstr("Of another shape: classifier."));
}

TEST(CheckpointNames, ListAllThatIsWrongInOneMessage) {
  auto stored = stored_of(folder_shape());
  stored[0].sizes = {31, 8};
  stored[1].type = "F64";
  stored[2].name = "transformer.h.7.ln_1.weight";
  stored.push_back(stored[4]);
  const std::string error = error_of(folder_shape(), stored);
  EXPECT_THAT(error,
              AllOf(HasSubstr("\"folder\""), HasSubstr("Missing: transformer.h.0.ln_1.weight."),
                    HasSubstr("Not known: transformer.h.7.ln_1.weight, "),
                    HasSubstr("transformer.wte.weight [31, 8] instead of [30, 8]"),
                    HasSubstr("transformer.wpe.weight (F64)")));
}

TEST(CheckpointNames, ListTenAndCountTheRest) {
  const std::string error = error_of(folder_shape(), {});
  EXPECT_THAT(error, AllOf(HasSubstr("transformer.h.0.ln_2.bias"), HasSubstr("18 more"),
                           Not(HasSubstr("transformer.ln_f.bias"))));
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
