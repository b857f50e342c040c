// Where the rules about the host must speak, and where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/advice/advised_run.h"

namespace shardlens::trace::advice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kUs = 1'000;

struct Work {
  std::int64_t kernels = 1000, kernel_ns = 100 * kUs;
  std::int64_t idle_ns = 0;  // between two kernels
  std::int64_t launch_ns = 5 * kUs;
  std::int64_t ahead_ns = kMs;  // by which a launch is before its kernel; with idle time less
};

// One kernel behind another on rank 1; on rank 0 a tenth of them.
AdvisedRun working(const Work& work) {
  AdvisedRun run;
  run.predicts = false;
  run.figures().info.device = "cuda";
  run.events = [=](const analysis::StepFigures& step, int rank) {
    model::EventRun kernels, launches;
    kernels.rank = launches.rank = rank;
    kernels.kind = model::EventKind::kKernel;
    launches.kind = model::EventKind::kLaunch;
    for (std::int64_t i = 0; i < work.kernels / (rank == 0 ? 10 : 1); ++i) {
      model::Event event;
      event.correlation = static_cast<std::uint64_t>(step.index * work.kernels + i + 1);
      event.start_ns = step.start_ns + 2 * kMs + i * (work.kernel_ns + work.idle_ns);
      event.duration_ns = work.kernel_ns;
      kernels.events.push_back(event);
      event.start_ns -= work.ahead_ns;
      event.duration_ns = work.launch_ns;
      launches.events.push_back(event);
    }
    model::Batch batch;
    batch.events = {kernels, launches};
    return batch;
  };
  return run;
}

TEST(HostBoundRule, SpeaksWhereTheGpuWaitsForLaunches) {
  AdvisedRun run = working({.idle_ns = 20 * kUs, .ahead_ns = 10 * kUs});
  const auto advice = of_rule(run.advise(), "host_bound");
  ASSERT_TRUE(advice);
  EXPECT_NEAR(advice->at_stake_ns, 999 * 20.0 * kUs, 1);
  EXPECT_EQ(advice->evidence.front().rank, 1);
  EXPECT_EQ(advice->evidence.front().end_ns - advice->evidence.front().start_ns, 20 * kUs);
  EXPECT_THAT(advice->why, HasSubstr("record=none"));
}

TEST(HostBoundRule, OfAnotherProgramNamesNoneOfOurSettings) {
  AdvisedRun run = working({.idle_ns = 20 * kUs, .ahead_ns = 10 * kUs});
  run.figures().info.imported_from = "PyTorch profiler";
  const auto advice = of_rule(run.advise(), "host_bound");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->why, Not(HasSubstr("record=")));
}

TEST(HostBoundRule, IsSilentWhereLaunchesWereThereBefore) {
  AdvisedRun ahead = working({.idle_ns = 20 * kUs});
  EXPECT_FALSE(asked(ahead, "host_bound")) << "launched before: something else held them up";
  AdvisedRun busy = working({});
  EXPECT_FALSE(asked(busy, "host_bound"));
}

TEST(TinyKernelsRule, SpeaksWhereMostAreShorterThanTheirLaunch) {
  const Work tiny{.kernel_ns = 3 * kUs, .idle_ns = 4 * kUs, .ahead_ns = kUs};
  AdvisedRun run = working(tiny);
  const auto advice = of_rule(run.advise(), "tiny_kernels");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->why, HasSubstr("1,000 kernels"));
  EXPECT_THAT(advice->why, HasSubstr("5.00 µs"));
  AdvisedRun same = working(tiny);
  EXPECT_FALSE(asked(same, "host_bound")) << "that is why";
  AdvisedRun large = working({.idle_ns = 20 * kUs, .ahead_ns = 10 * kUs});
  EXPECT_FALSE(asked(large, "tiny_kernels"));
  AdvisedRun graph = working({.kernel_ns = 3 * kUs});
  EXPECT_FALSE(asked(graph, "tiny_kernels")) << "tiny, but nobody waits";
}

TEST(LossReadingRule, SpeaksWhereSharingTheLossIsExposed) {
  AdvisedRun run;
  run.add_collective("loss", 40, 2.0 * kMs, 3.0 * kMs);
  run.predicts = false;
  const auto advice = of_rule(run.advise(), "loss_reading");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"loss_every", "10"}}));
  EXPECT_DOUBLE_EQ(advice->at_stake_ns, 2.7 * kMs);
  AdvisedRun brief;
  brief.add_collective("loss", 40, 0.1 * kMs, 0.1 * kMs);
  EXPECT_FALSE(asked(brief, "loss_reading"));
  AdvisedRun seldom;
  seldom.settings().loss_every = 20;
  seldom.add_collective("loss", 40, 2.0 * kMs, 3.0 * kMs);
  EXPECT_FALSE(asked(seldom, "loss_reading"));
}

}  // namespace
}  // namespace shardlens::trace::advice
