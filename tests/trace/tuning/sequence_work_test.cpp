#include "trace/tuning/sequence_work.h"

#include <gtest/gtest.h>

namespace shardlens::trace::tuning {
namespace {

TEST(SequenceWork, AttentionIsTheShareOfWhatForwardAndBackwardCompute) {
  EXPECT_DOUBLE_EQ(
      attention_share({{"aten::mm", 60},
                       {"aten::_scaled_dot_product_flash_attention_for_cpu", 5},
                       {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", 15},
                       {"aten::_fused_adamw_", 100}})
          .value(),
      0.25);
  EXPECT_DOUBLE_EQ(attention_share({{"nvjet_hsh_128x128", 30}, {"flash_fwd_kernel", 10}}).value(),
                   0.25);
  EXPECT_FALSE(attention_share({{"aten::mm", 60}}));
  EXPECT_FALSE(attention_share({}));
}

TEST(SequenceWork, LiesBetweenProportionAndSquare) {
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    for (const double ratio : {0.25, 0.5, 1.0, 2.0, 8.0}) {
      const SequenceWork work = sequence_work(share, ratio);
      const double linear = ratio, quadratic = (1 - share) * ratio + share * ratio * ratio;
      EXPECT_NEAR(work.factor - work.unsure, std::min(linear, quadratic), 1e-12);
      EXPECT_NEAR(work.factor + work.unsure, std::max(linear, quadratic), 1e-12);
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::tuning
