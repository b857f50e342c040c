#include "trace/predict/block_units.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/model/parameter_shapes.h"

namespace shardlens::trace {
namespace {

// Of the 3,502 values of a block the MLP has 1,742 and attention 1,680 (as in trainer's UnitPlan).
ModelShape small_shape() {
  ModelShape shape = *find_model_preset("tiny");
  shape.layers = 2;
  shape.width = 20;
  shape.heads = shape.kv_heads = 2;
  shape.mlp_width = 42;
  return shape;
}

// "attn: 1680, mlp: 1742": the longest common name of their parameters, and own values.
std::string units(std::int64_t minimum, const Settings& with = {}) {
  Settings settings = with;
  settings.wrap_policy = "size";
  settings.min_num_params = minimum;
  const ModelShape shape = small_shape();
  std::vector<std::string> names;
  for (const ParameterShape& each : parameter_shapes(shape)) {
    if (each.block == 0) names.push_back(each.name.substr(each.name.find("0.") + 2));
  }
  std::string text;
  for (const BlockUnit& unit : block_units(shape, settings)) {
    const std::string& first = names.at(static_cast<std::size_t>(unit.first));
    const std::string& last = names.at(static_cast<std::size_t>(unit.end - 1));
    std::string common = first.substr(0, first.rfind('.'));
    while (!common.empty() && !last.starts_with(common + ".")) {
      common = common.substr(0, common.find('.') == std::string::npos ? 0 : common.rfind('.'));
    }
    text += (text.empty() ? "" : ", ") + (common.empty() ? "block" : common) + ": " +
            std::to_string(unit.values);
  }
  return text;
}

TEST(BlockUnits, AreChosenFromTheInside) {
  EXPECT_EQ(units(3000), "block: 3502");
  EXPECT_EQ(units(1700), "block: 1760, mlp: 1742");
  EXPECT_EQ(units(1680), "attn: 1680, mlp: 1742") << "norms are the root's";
  EXPECT_EQ(units(800), "attn.c_attn: 1260, mlp.c_fc: 882, mlp.c_proj: 860");
  EXPECT_EQ(units(1'000'000), "");
}

TEST(BlockUnits, HoldEveryValueOnceWhereNoneIsTooSmall) {
  Settings settings;
  settings.wrap_policy = "size";
  settings.min_num_params = 1;
  for (const char* model : {"tiny", "llama-1b"}) {
    ModelShape shape = *find_model_preset(model);
    std::int64_t values = 0, all = 0;
    for (const BlockUnit& unit : block_units(shape, settings)) values += unit.values;
    shape.layers = 1;
    for (const ParameterShape& each : parameter_shapes(shape)) {
      if (each.block == 0) all += each.numel();
    }
    EXPECT_EQ(values, all) << model;
  }
}

TEST(BlockUnits, CountPackedWeightsByTheirBytesAndAdaptersBesideThem) {
  Settings adapted;
  adapted.lora_rank = 4;
  adapted.lora_target_modules = "all-linear";
  adapted.base_dtype = "nf4";
  // 1,200 weights in 684 bytes, 60 biases, adapters of 4 x (20 + 60); attention has 1,496 like
  // that, the MLP 1,566.
  EXPECT_EQ(units(1064, adapted), "attn.c_attn: 1260, mlp: 1742");
  EXPECT_EQ(units(1065, adapted), "attn: 1680, mlp: 1742");
}

TEST(BlockUnits, AreTheBlockOrNoneUnderTheOtherPolicies) {
  Settings settings;
  const ModelShape shape = small_shape();
  settings.wrap_policy = "transformer_block";
  ASSERT_EQ(block_units(shape, settings).size(), 1u);
  EXPECT_EQ(block_units(shape, settings)[0].values, 3502);
  settings.wrap_policy = "whole_model";
  EXPECT_TRUE(block_units(shape, settings).empty());
}

}  // namespace
}  // namespace shardlens::trace
