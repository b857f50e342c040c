// Samples and steps by hand; what they touch is counted millisecond by millisecond.
#include "trace/analysis/figures/throttling.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "tests/trace/units.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::analysis {
namespace {

TEST(ThrottledTimes, ASampleStandsForTheTimeSinceTheOneBefore) {
  ThrottledTimes times;
  times.add(100 * kMs, model::kLimitPowerCap);  // since when, nobody knows
  times.add(300 * kMs, 0);
  times.add(500 * kMs, model::kLimitSoftwareThermal);
  times.add(700 * kMs, model::kLimitSoftwareThermal);
  times.add(900 * kMs, model::kLimitSoftwareThermal | model::kLimitPowerCap);
  ASSERT_EQ(times.times().size(), 2u);
  EXPECT_EQ(times.times()[0].start_ns, 300 * kMs);
  EXPECT_EQ(times.times()[0].end_ns, 700 * kMs);
  EXPECT_EQ(times.times()[0].limits, model::kLimitSoftwareThermal);
  EXPECT_EQ(times.times()[1].end_ns, 900 * kMs);
  EXPECT_EQ(times.in(0, 300 * kMs).ns, 0) << "up to, and not with, where it begins";
  EXPECT_EQ(times.in(250 * kMs, 350 * kMs).ns, 50 * kMs);
  EXPECT_EQ(times.in(600 * kMs, 2'000 * kMs).ns, 300 * kMs);
  EXPECT_EQ(times.in(600 * kMs, 2'000 * kMs).limits,
            std::uint32_t{model::kLimitSoftwareThermal | model::kLimitPowerCap});
  EXPECT_EQ(times.in(900 * kMs, 2'000 * kMs).limits, 0u);
}

TEST(ThrottledTimes, IdleAndClocksThatTheUserSetAreNoThrottling) {
  ThrottledTimes times;
  times.add(100 * kMs, 0);
  times.add(300 * kMs,
            model::kLimitIdle | model::kLimitApplicationClocks | model::kLimitDisplayClocks);
  EXPECT_TRUE(times.times().empty());
  times.add(500 * kMs, model::kLimitIdle | model::kLimitHardwareThermal);
  ASSERT_EQ(times.times().size(), 1u);
  EXPECT_EQ(times.times()[0].limits, model::kLimitHardwareThermal);
}

TEST(ThrottledTimes, ASampleAfterALongPauseStandsForASecond) {
  ThrottledTimes times;
  times.add(0, 0);
  times.add(60'000 * kMs, model::kLimitPowerCap);
  ASSERT_EQ(times.times().size(), 1u);
  EXPECT_EQ(times.times()[0].start_ns, 59'000 * kMs);
}

TEST(ThrottledTimes, NonsenseIsLeftOut) {
  ThrottledTimes times;
  EXPECT_TRUE(times.add(100 * kMs, 0));
  EXPECT_FALSE(times.add(50 * kMs, model::kLimitPowerCap)) << "earlier than the last";
  for (const double value : {-4.0, 1e300, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    times.add(200 * kMs, value);
  }
  EXPECT_TRUE(times.times().empty());
}

TEST(ThrottledTimes, AgreeWithCountingEveryMillisecond) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    ThrottledTimes times;
    std::array<std::uint32_t, 4000> limits{};  // by millisecond
    int last = -1;
    for (int time = 5; time < 4000; time += std::uniform_int_distribution(1, 700)(random)) {
      const auto bits = std::uniform_int_distribution(0u, 255u)(random);
      times.add(time * kMs, bits);
      for (int ms = last < 0 ? time : last; ms < time; ++ms) {
        limits[static_cast<std::size_t>(ms)] = bits & model::kThrottling;
      }
      last = time;
    }
    for (int start = 0; start < 4000; start += 137) {
      const int end = std::min(4000, start + 211);
      ThrottledTimes::Touch counted;
      for (int ms = start; ms < end; ++ms) {
        const std::uint32_t bits = limits[static_cast<std::size_t>(ms)];
        counted.limits |= bits;
        if (bits != 0) counted.ns += kMs;
      }
      const auto touch = times.in(start * kMs, end * kMs);
      EXPECT_EQ(touch.limits, counted.limits);
      EXPECT_EQ(touch.ns, counted.ns);
    }
  }
}

// Two ranks with steps of 100 ms each; samples every 200 ms.
class ThrottledRun : public testing::Test {
 protected:
  ThrottledRun() {
    model::RunInfo info;
    info.world_size = 2;
    info.settings.skip_steps = 0;
    analysis_ = std::make_unique<RunAnalysis>(info);
    for (int rank = 0; rank < 2; ++rank) {
      model::Batch batch;
      batch.strings = {{rank, 1, std::string(model::kClockLimits)}, {rank, 2, "GPU power"}};
      for (int step = 0; step < 10; ++step) {
        model::Step row;
        row.rank = rank;
        row.index = step;
        row.start_ns = kStart + step * 100 * kMs;
        row.end_ns = row.start_ns + 100 * kMs;
        batch.steps.push_back(row);
      }
      analysis_->add(batch);
    }
  }
  void sample(int rank, int ms, double value, model::StringId name = 1) {
    model::Batch batch;
    batch.counters = {{rank, name, 0, kStart + ms * kMs, value}};
    analysis_->add(batch);
  }

  static constexpr std::int64_t kStart = 1'790'000'000'000'000'000;
  std::unique_ptr<RunAnalysis> analysis_;
};

TEST_F(ThrottledRun, MarksTheStepsThatWereTouchedWithTheRankAndTheTime) {
  for (int rank = 0; rank < 2; ++rank) sample(rank, -50, 0);
  sample(0, 150, 0);
  sample(0, 350, model::kLimitSoftwareThermal);  // from 150 to 350
  sample(0, 550, 0);
  sample(1, 150, 0);
  sample(1, 350, 0);
  sample(1, 550, model::kLimitPowerCap);     // from 350 to 550
  sample(1, 750, model::kLimitPowerCap, 2);  // another counter
  RunFigures figures = analysis_->figures();
  ASSERT_EQ(figures.steps.size(), 10u);
  EXPECT_TRUE(figures.steps[0].throttling.empty());
  const StepThrottling hot{0, model::kLimitSoftwareThermal, 50 * kMs};
  EXPECT_EQ(figures.steps[1].throttling, std::vector{hot});
  EXPECT_EQ(figures.steps[2].throttling[0].ns, 100 * kMs);
  ASSERT_EQ(figures.steps[3].throttling.size(), 2u);
  EXPECT_EQ(figures.steps[3].throttling[1], (StepThrottling{1, model::kLimitPowerCap, 50 * kMs}));
  EXPECT_EQ(figures.steps[5].throttling.size(), 1u);
  for (std::size_t step = 6; step < 10; ++step) {
    EXPECT_TRUE(figures.steps[step].throttling.empty()) << step;
  }
  EXPECT_EQ(throttling_sentence(figures.steps),
            "5 of 10 steps throttled on ranks 0 and 1: power cap, thermal slowdown");
  EXPECT_EQ(throttling_note(figures.steps[3]),
            "rank 0: thermal slowdown for 50 ms; rank 1: power cap for 50 ms");
  EXPECT_EQ(throttling_note(figures.steps[0]), "");
  figures.steps[0].warmup = figures.steps[1].warmup = true;
  figures.steps[2].complete = false;
  EXPECT_EQ(throttling_sentence(figures.steps),
            "3 of 7 steps throttled on ranks 0 and 1: power cap, thermal slowdown")
      << "of measured ones, as advice says";
}

TEST_F(ThrottledRun, SaysNothingWhereNothingWasSampled) {
  EXPECT_EQ(throttling_sentence(analysis_->figures().steps), "");
}

TEST(ThrottlingText, NamesEachReasonOnce) {
  EXPECT_EQ(model::throttling_text(model::kLimitSoftwareThermal | model::kLimitHardwareThermal),
            "thermal slowdown");
  EXPECT_EQ(model::throttling_text(model::kLimitPowerBrake | model::kLimitHardwareSlowdown |
                                   model::kLimitSyncBoost),
            "sync boost, power brake, hardware slowdown");
  EXPECT_EQ(model::throttling_text(model::kLimitIdle), "");
}

}  // namespace
}  // namespace shardlens::trace::analysis
