// Where the rules about links and clocks must speak, and where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/advice/advised_run.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::advice {
namespace {

using ::testing::HasSubstr;

// A bucket of 64 MiB, exposed, that moves at so many GB/s over a link of 450.
AdvisedRun moving_at(double gigabytes_per_second, const char* protocol) {
  AdvisedRun run;
  run.predicts = false;
  run.figures().info.device = "cuda";
  run.add_collective("bucket 0", 64 * kMib, 8.0 * kMs, 8.0 * kMs);
  run.figures().collectives.back().busbw_bytes_per_s = gigabytes_per_second * 1e9;
  run.figures().collectives.back().algorithm = "RING";
  run.figures().collectives.back().protocol = protocol;
  run.change = [](analysis::RunFigures& figures) {
    for (auto& rank : figures.ranks) rank.info.link_bytes_per_second = 450e9;
  };
  return run;
}

TEST(SlowLinkRule, SpeaksBelowHalfOfTheLinksPeak) {
  AdvisedRun run = moving_at(90, "SIMPLE");
  const auto advice = of_rule(run.advise(), "slow_link");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->measured, HasSubstr("of the link's 450"));
  EXPECT_THAT(advice->why, HasSubstr("(RING, SIMPLE)"));
  AdvisedRun usual = moving_at(330, "SIMPLE");
  EXPECT_FALSE(asked(usual, "slow_link"));
  AdvisedRun small = moving_at(90, "SIMPLE");
  small.figures().collectives.back().bytes = kMib;
  EXPECT_FALSE(asked(small, "slow_link")) << "latency";
  AdvisedRun shared = moving_at(90, "SIMPLE");
  shared.figures().info.shared_gpu = true;
  EXPECT_FALSE(asked(shared, "slow_link"));
}

TEST(NcclChoiceRule, SpeaksWhereSettingsOrProtocolStandAgainstTheLink) {
  AdvisedRun forced = moving_at(90, "SIMPLE");
  forced.settings().nccl_algo = "Tree";
  const auto let = of_rule(forced.advise(), "nccl_choice");
  ASSERT_TRUE(let);
  EXPECT_EQ(let->changes, (std::vector<KnobValue>{{"nccl_algo", "auto"}}));
  AdvisedRun low_latency = moving_at(90, "LL");
  const auto keep = of_rule(low_latency.advise(), "nccl_choice");
  ASSERT_TRUE(keep);
  EXPECT_EQ(keep->changes, (std::vector<KnobValue>{{"nccl_proto", "^LL"}}));
  AdvisedRun wide = moving_at(90, "LL128");
  EXPECT_FALSE(asked(wide, "nccl_choice"));
  AdvisedRun fast = moving_at(330, "LL");
  EXPECT_FALSE(asked(fast, "nccl_choice"));
}

// Every other step is held down for 20 ms on rank 1, and takes 10 ms longer.
AdvisedRun held_down_by(std::uint32_t limits, std::int64_t ns = 20 * kMs) {
  AdvisedRun run;
  run.predicts = false;
  run.breakdown = [](std::int64_t step, int, analysis::StepBreakdown& own) {
    own.step_ns = 150 * kMs + step % 2 * 10 * kMs;
    own.compute_ns = own.step_ns;
  };
  run.change = [=](analysis::RunFigures& figures) {
    for (auto& step : figures.steps) {
      if (step.index % 2 == 1) step.throttling = {{1, limits, ns}};
    }
  };
  return run;
}

TEST(HeatRule, SpeaksWhereHeatHeldClocksDown) {
  AdvisedRun run = held_down_by(model::kLimitSoftwareThermal);
  const auto advice = of_rule(run.advise(), "heat");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->measured, "10 of 20 steps throttled");
  EXPECT_NEAR(advice->at_stake_ns, 5.0 * kMs, 1) << "10 ms in half of the steps";
  EXPECT_EQ(advice->evidence.front().rank, 1);
  AdvisedRun limited = held_down_by(model::kLimitPowerCap);
  EXPECT_FALSE(asked(limited, "heat"));
  AdvisedRun briefly = held_down_by(model::kLimitSoftwareThermal, kMs);
  EXPECT_FALSE(asked(briefly, "heat"));
}

TEST(PowerRule, SpeaksWhereThePowerLimitHeldClocksDown) {
  AdvisedRun run = held_down_by(model::kLimitPowerCap);
  const auto advice = of_rule(run.advise(), "power");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->why, HasSubstr("rank 1"));
  AdvisedRun hot = held_down_by(model::kLimitHardwareThermal);
  EXPECT_FALSE(asked(hot, "power"));
}

}  // namespace
}  // namespace shardlens::trace::advice
