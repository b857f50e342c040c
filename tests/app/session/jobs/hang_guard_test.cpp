#include "app/session/jobs/hang_guard.h"

#include <gtest/gtest.h>

#include "tests/trace/units.h"

namespace shardlens::app::session {
namespace {

using namespace std::chrono_literals;

using trace::kSecond;

// Two ranks after a step of 100 ms; rank 1 moved on last at `rank_1_progress_ns`.
trace::analysis::RunFigures figures(std::int64_t alive_ns, std::int64_t rank_1_progress_ns) {
  trace::analysis::RunFigures result;
  result.ranks.resize(2);
  trace::analysis::StepFigures step;
  step.complete = true;
  step.end_ns = kSecond / 10;
  step.ranks.resize(2);
  result.steps = {step};
  for (int rank = 0; rank < 2; ++rank) {
    auto& each = result.ranks[static_cast<std::size_t>(rank)];
    each.info.rank = rank;
    each.heartbeat = {.rank = rank,
                      .alive_ns = alive_ns,
                      .progress_ns = rank == 1 ? rank_1_progress_ns : alive_ns,
                      .step = 1,
                      .phase = trace::base::Phase::kBackward};
  }
  return result;
}

struct HangGuardTest : testing::Test {
  launch::HangWatch::Clock::time_point start = launch::HangWatch::Clock::now();
  HangGuard guard{[] {
    trace::model::RunInfo run;
    run.world_size = 2;
    return run;
  }()};
};

TEST_F(HangGuardTest, ARankThatStandsStillIsReportedOnce) {
  for (int second = 1; second <= 15; ++second) {
    guard.look(figures(second * kSecond, kSecond), start + second * 1s);
  }
  const auto reason = guard.check({}, start + 15s);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("rank 1"), std::string::npos);
  EXPECT_FALSE(guard.check({}, start + 20s)) << "the job is told once";
}

TEST_F(HangGuardTest, RanksThatMoveOnAreLeftAlone) {
  for (int second = 1; second <= 30; ++second) {
    guard.look(figures(second * kSecond, second * kSecond), start + second * 1s);
    EXPECT_FALSE(guard.check({}, start + second * 1s));
  }
}

TEST_F(HangGuardTest, AJobIsWatchedUntilItHasEnded) {
  for (int second = 1; second <= 15; ++second) {
    guard.look(figures(second * kSecond, kSecond), start + second * 1s);
  }
  launch::JobStatus job;
  job.phase = launch::JobStatus::Phase::kEnded;
  EXPECT_FALSE(guard.check(job, start + 15s));
  job.phase = launch::JobStatus::Phase::kStopping;
  EXPECT_TRUE(guard.check(job, start + 15s)) << "it waits for ranks that move";
}

}  // namespace
}  // namespace shardlens::app::session
