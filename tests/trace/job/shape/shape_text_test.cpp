#include "trace/job/shape/shape_text.h"

#include <gtest/gtest.h>

namespace shardlens::trace::job {
namespace {

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
}  // namespace shardlens::trace::job
