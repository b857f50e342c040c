#include "trace/job/shape/model_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::job {
namespace {

using ::testing::HasSubstr;

std::int64_t count(const char* name) { return parameter_count(*find_planning_model(name)); }

TEST(ModelShape, CountsRealModelsAsTheirAuthorsDo) {
  EXPECT_EQ(count("gpt2"), 124439808);
  EXPECT_EQ(count("gpt2-xl"), 1557611200);
  EXPECT_EQ(count("llama-1b"), 1235814400);
  EXPECT_EQ(count("llama-7b"), 6738415616);
  EXPECT_EQ(count("llama-8b"), 8030261248);
  EXPECT_EQ(count("llama-13b"), 13015864320);
  EXPECT_EQ(count("llama-70b"), 70553706496);
  EXPECT_EQ(count("mistral-7b"), 7241732096);
  EXPECT_EQ(count("qwen2-7b"), 7615616512);
}

TEST(ModelShape, Llama2Of70BillionIsLlama3WithItsSmallerVocabulary) {
  ModelShape shape = *find_planning_model("llama-70b");
  shape.vocabulary = 32000;
  EXPECT_EQ(parameter_count(shape), 68976648192);
}

TEST(ModelShape, OnlyModelsThatCanBeTrainedAreChoicesOfTheKnob) {
  const Knob& knob = *find_knob("model");
  ASSERT_EQ(knob.choices.size(), model_presets().size());
  for (std::size_t i = 0; i < knob.choices.size(); ++i) {
    EXPECT_EQ(knob.choices[i], model_presets()[i].name);
  }
  for (const ModelShape& shape : planning_presets()) {
    EXPECT_FALSE(find_model_preset(shape.name)) << shape.name;
    EXPECT_TRUE(find_planning_model(shape.name)) << shape.name;
  }
  const auto unknown = find_planning_model("gpt-9");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().message, HasSubstr("tiny"));
  EXPECT_THAT(unknown.error().message, HasSubstr("llama-70b"));
}

TEST(ParameterShapes, SumToTheCount) {
  for (const auto list : {model_presets(), planning_presets()}) {
    for (const ModelShape& shape : list) {
      std::int64_t sum = 0;
      for (const ParameterShape& parameter : parameter_shapes(shape)) sum += parameter.numel();
      EXPECT_EQ(sum, parameter_count(shape)) << shape.name;
    }
  }
}

TEST(ParameterShapes, BelongToTheirBlockOrToTheRoot) {
  const auto parameters = parameter_shapes(*find_model_preset("tiny"));
  EXPECT_EQ(parameters.front().name, "transformer.wte.weight");
  EXPECT_EQ(parameters.front().block, ParameterShape::kRoot);
  EXPECT_EQ(parameters[2].name, "transformer.h.0.ln_1.weight");
  EXPECT_EQ(parameters[2].block, 0);
  EXPECT_EQ(parameters.back().name, "transformer.ln_f.bias");
  EXPECT_EQ(parameters.back().block, ParameterShape::kRoot);
  EXPECT_EQ(parameters[parameters.size() - 3].block, 4);
}

}  // namespace
}  // namespace shardlens::trace::job
