#include "trace/tuning/work_factor.h"

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
      const WorkFactor work = sequence_work(share, ratio);
      const double linear = ratio, quadratic = (1 - share) * ratio + share * ratio * ratio;
      EXPECT_NEAR(work.factor - work.unsure, std::min(linear, quadratic), 1e-12);
      EXPECT_NEAR(work.factor + work.unsure, std::max(linear, quadratic), 1e-12);
    }
  }
}

TEST(Cores, AreNamedByTheDevice) {
  EXPECT_EQ(cores_named("Intel(R) Xeon(R) Processor, 2 cores"), 2);
  EXPECT_EQ(cores_named("a, b, 128 cores"), 128);
  for (const char* none :
       {"", "NVIDIA H100", "2 cores", "CPU, many cores", "CPU, 0 cores", ", cores"}) {
    EXPECT_EQ(cores_named(none), std::nullopt) << none;
  }
}

TEST(Cores, AreSharedByTheRanks) {
  job::Settings settings;
  const auto share = [&](std::int64_t ranks, std::int64_t threads, std::int64_t cores) {
    settings.ranks = ranks;
    settings.threads_per_rank = threads;
    return cores_of_a_rank(settings, cores);
  };
  EXPECT_DOUBLE_EQ(share(2, 1, 2), 1);
  EXPECT_DOUBLE_EQ(share(4, 1, 2), 0.5) << "two ranks on each";
  EXPECT_DOUBLE_EQ(share(2, 4, 16), 4) << "no more than it has threads for";
  EXPECT_DOUBLE_EQ(share(2, job::kAuto, 16), 8);
  EXPECT_DOUBLE_EQ(share(4, job::kAuto, 2), 0.5);
}

}  // namespace
}  // namespace shardlens::trace::tuning
