#include "app/launch/hang_watch.h"

#include <gtest/gtest.h>

namespace shardlens::app::launch {
namespace {

using namespace std::chrono_literals;
using trace::base::Phase;
using Time = HangWatch::Clock::time_point;

class HangWatchTest : public testing::Test {
 protected:
  // A rank's row: `alive` and `progress` are what the trace says, in any unit that grows.
  void beat(int rank, Time now, std::int64_t alive, std::int64_t progress,
            Phase phase = Phase::kForward, std::int64_t at_step = 7) {
    trace::model::Batch batch;
    trace::model::RankInfo info;
    info.rank = rank;
    info.process_id = 100 + rank;
    batch.rank_info = info;
    batch.heartbeat = trace::model::Heartbeat{
        .rank = rank, .alive_ns = alive, .progress_ns = progress, .step = at_step, .phase = phase};
    watch_.add(batch, now);
  }

  void step(int rank, std::chrono::milliseconds duration) {
    trace::model::Batch batch;
    trace::model::Step row;
    row.rank = rank;
    row.end_ns = std::chrono::nanoseconds(duration).count();
    batch.steps.push_back(row);
    watch_.add(batch, Time(0s));
  }

  std::int64_t suspended_process_ = -1;
  HangWatch watch_{2, 600s, [this](std::int64_t process) { return process == suspended_process_; }};
};

TEST_F(HangWatchTest, IsQuietWhileRanksMove) {
  step(0, 100ms);
  for (int second = 0; second < 40; ++second) {
    beat(0, Time(std::chrono::seconds(second)), second, second);
    EXPECT_FALSE(watch_.check(Time(std::chrono::seconds(second) + 900ms)));
  }
}

TEST_F(HangWatchTest, NamesTheRankThatStoppedMovingFirst) {
  step(0, 100ms);
  step(1, 100ms);
  for (int second = 0; second <= 12; ++second) {
    beat(0, Time(std::chrono::seconds(second)), second, std::min(second, 2));
    beat(1, Time(std::chrono::seconds(second)), second, std::min(second, 1));
    if (second < 11) {
      EXPECT_FALSE(watch_.check(Time(std::chrono::seconds(second)))) << second;
    }
  }
  const auto hang = watch_.check(Time(12s));
  ASSERT_TRUE(hang);
  EXPECT_TRUE(hang->starts_with("rank 1 hangs")) << *hang;
  EXPECT_NE(hang->find("step 7 (forward)"), std::string::npos) << *hang;
}

TEST_F(HangWatchTest, NamesNoPhaseWhereNoneIsKnown) {
  step(0, 100ms);
  beat(0, Time(0s), 0, 0, Phase::kOther);
  beat(0, Time(12s), 12, 0, Phase::kOther);
  EXPECT_EQ(watch_.check(Time(12s)), "rank 0 hangs: no progress for 12 s in step 7");
}

TEST_F(HangWatchTest, WaitsTenStepsWhereStepsAreLong) {
  step(0, 3000ms);
  for (int second = 0; second <= 29; ++second) {
    beat(0, Time(std::chrono::seconds(second)), second, 0);
    EXPECT_FALSE(watch_.check(Time(std::chrono::seconds(second)))) << second;
  }
  beat(0, Time(31s), 31, 0);
  EXPECT_TRUE(watch_.check(Time(31s)));
}

TEST_F(HangWatchTest, HasPatienceWithTheFirstStepAndWithEvaluation) {
  beat(0, Time(0s), 0, 0);
  beat(0, Time(50s), 50, 0);
  EXPECT_FALSE(watch_.check(Time(50s)));
  step(0, 100ms);
  EXPECT_TRUE(watch_.check(Time(50s)));
  beat(0, Time(50s), 51, 0, Phase::kEvaluation);
  EXPECT_FALSE(watch_.check(Time(50s)));
}

TEST_F(HangWatchTest, WaitsAsLongAsSomebodySetCollectivesToTake) {
  watch_ = HangWatch(2, 60s, [](std::int64_t) { return false; });
  step(0, 100ms);
  beat(0, Time(0s), 0, 0);
  beat(0, Time(59s), 59, 0);
  EXPECT_FALSE(watch_.check(Time(59s)));
  beat(0, Time(60s), 60, 0);
  EXPECT_TRUE(watch_.check(Time(60s)));
}

TEST_F(HangWatchTest, GivesRanksAMinuteToStartHoweverShortCollectivesAreToBe) {
  watch_ = HangWatch(2, 4s, [](std::int64_t) { return false; });
  beat(0, Time(0s), 0, 0, Phase::kOther, -1);
  beat(0, Time(59s), 59, 0, Phase::kOther, -1);
  EXPECT_FALSE(watch_.check(Time(59s)));
  beat(0, Time(60s), 60, 0, Phase::kOther, -1);
  EXPECT_EQ(watch_.check(Time(60s)), "rank 0 hangs: no progress for 60 s before its first step");
}

TEST_F(HangWatchTest, TakesASilentRecorderForAHangOnlyIfItsProcessStandsStill) {
  step(0, 100ms);
  step(1, 100ms);
  beat(0, Time(0s), 0, 0);
  beat(1, Time(0s), 0, 0);
  EXPECT_FALSE(watch_.check(Time(30s))) << "a full disk stops the recorder, not the job";
  suspended_process_ = 101;
  const auto hang = watch_.check(Time(30s));
  ASSERT_TRUE(hang);
  EXPECT_TRUE(hang->starts_with("rank 1 has been suspended")) << *hang;
}

TEST_F(HangWatchTest, ForgetsRanksThatEnded) {
  suspended_process_ = 101;
  beat(1, Time(0s), 0, 0);
  watch_.rank_ended(1);
  EXPECT_FALSE(watch_.check(Time(100s)));
}

TEST_F(HangWatchTest, IgnoresRanksThatTheRunDoesNotHave) {
  beat(7, Time(0s), 0, 0);
  beat(-1, Time(0s), 0, 0);
  EXPECT_FALSE(watch_.check(Time(100s)));
}

}  // namespace
}  // namespace shardlens::app::launch
