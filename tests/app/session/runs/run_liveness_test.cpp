#include "app/session/runs/run_liveness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/trace/units.h"
#include "trace/base/this_machine.h"
#include "trace/base/wall_clock.h"

namespace shardlens::app::session {
namespace {

using trace::kSecond;
const std::int64_t kStart = trace::base::wall_clock_ns();

const std::string kThisHost = trace::base::host_name();

// The number of a process that has just ended.
std::int64_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

RunLiveness liveness(std::int64_t silent_s, std::vector<RunLiveness::Process> processes) {
  return {.start_ns = kStart - 3600 * kSecond,
          .alive_ns = kStart - silent_s * kSecond,
          .world_size = 2,
          .processes = std::move(processes)};
}

TEST(RunLiveness, ARecorderThatSpeaksIsAlive) {
  EXPECT_FALSE(is_abandoned(liveness(2, {{"elsewhere", 1}, {"elsewhere", 2}}), kStart));
}

TEST(RunLiveness, SilenceOnAnotherHostMeansAbandoned) {
  EXPECT_TRUE(is_abandoned(liveness(11, {{"elsewhere", 1}, {"elsewhere", 2}}), kStart));
}

TEST(RunLiveness, AProcessThatLivesMayBeSilentAsWithAFullDisk) {
  RunLiveness silent = liveness(0, {{kThisHost, getpid()}, {kThisHost, dead_process()}});
  EXPECT_FALSE(is_abandoned(silent, kStart + 600 * kSecond));
}

TEST(RunLiveness, AProcessNumberThatWasGivenAwayAgainIsNotTheRecorder) {
  EXPECT_TRUE(is_abandoned(liveness(7200, {{kThisHost, getpid()}}), kStart));
}

TEST(RunLiveness, DeadProcessesOfThisHostNeedNoLongSilence) {
  const std::int64_t dead = dead_process();
  EXPECT_TRUE(is_abandoned(liveness(4, {{kThisHost, dead}, {kThisHost, dead}}), kStart));
  EXPECT_FALSE(is_abandoned(liveness(1, {{kThisHost, dead}, {kThisHost, dead}}), kStart));
  EXPECT_FALSE(is_abandoned(liveness(4, {{kThisHost, dead}}), kStart))
      << "one has not reported yet";
}

TEST(RunLiveness, AClockThatWasSetBackKeepsNoDeadRunAlive) {
  const std::int64_t dead = dead_process();
  EXPECT_TRUE(is_abandoned(liveness(-600, {{kThisHost, dead}, {kThisHost, dead}}), kStart));
  EXPECT_FALSE(is_abandoned(liveness(-1, {{kThisHost, dead}, {kThisHost, dead}}), kStart));
  EXPECT_FALSE(is_abandoned(liveness(-600, {{kThisHost, dead}, {kThisHost, getpid()}}), kStart));
  EXPECT_FALSE(is_abandoned(liveness(-600, {{kThisHost, dead}, {"elsewhere", 1}}), kStart))
      << "the other's clock may go ahead";
}

// Under torchrun rank 0 alone says how the run ended.
TEST(RunLiveness, AllIsWrittenSomeTimeAfterARunHasEndedInOrder) {
  trace::model::RunInfo info;
  EXPECT_FALSE(is_written(info, kStart)) << "it goes on";
  info.status = trace::model::RunStatus::kDone;
  info.end_ns = kStart;
  EXPECT_FALSE(is_written(info, kStart + kSecond));
  EXPECT_TRUE(is_written(info, kStart + 4 * kSecond));
  info.status = trace::model::RunStatus::kFailed;
  EXPECT_FALSE(is_written(info, kStart + 4 * kSecond)) << "ranks may have been killed";
}

TEST(RunLiveness, BeforeTheFirstReportARunHasTwoMinutes) {
  RunLiveness starting;
  starting.start_ns = kStart - 100 * kSecond;
  starting.world_size = 2;
  EXPECT_FALSE(is_abandoned(starting, kStart));
  EXPECT_TRUE(is_abandoned(starting, kStart + 30 * kSecond));
}

TEST(RunLiveness, ARunThatSaysHowItEndedIsNeverAbandoned) {
  RunLiveness done = liveness(600, {});
  done.status = trace::model::RunStatus::kDone;
  EXPECT_FALSE(is_abandoned(done, kStart));
}

}  // namespace
}  // namespace shardlens::app::session
