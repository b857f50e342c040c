#include "app/session/runs/run_liveness.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/wall_clock.h"

namespace shardlens::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
const std::int64_t kNow = trace::wall_clock_ns();

std::string this_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

// The number of a process that has just ended.
std::int64_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

RunLiveness pulse(std::int64_t silent_s, std::vector<RunLiveness::Process> processes) {
  return {.start_ns = kNow - 3600 * kSecond,
          .alive_ns = kNow - silent_s * kSecond,
          .world_size = 2,
          .processes = std::move(processes)};
}

TEST(RunLiveness, ARecorderThatSpeaksIsAlive) {
  EXPECT_FALSE(is_abandoned(pulse(2, {{"elsewhere", 1}, {"elsewhere", 2}}), kNow));
}

TEST(RunLiveness, SilenceOnAnotherHostMeansAbandoned) {
  EXPECT_TRUE(is_abandoned(pulse(11, {{"elsewhere", 1}, {"elsewhere", 2}}), kNow));
}

TEST(RunLiveness, AProcessThatLivesMayBeSilentAsWithAFullDisk) {
  RunLiveness silent = pulse(0, {{this_host(), getpid()}, {this_host(), dead_process()}});
  EXPECT_FALSE(is_abandoned(silent, kNow + 600 * kSecond));
}

TEST(RunLiveness, AProcessNumberThatWasGivenAwayAgainIsNotTheRecorder) {
  EXPECT_TRUE(is_abandoned(pulse(7200, {{this_host(), getpid()}}), kNow));
}

TEST(RunLiveness, DeadProcessesOfThisHostNeedNoLongSilence) {
  const std::int64_t dead = dead_process();
  EXPECT_TRUE(is_abandoned(pulse(4, {{this_host(), dead}, {this_host(), dead}}), kNow));
  EXPECT_FALSE(is_abandoned(pulse(1, {{this_host(), dead}, {this_host(), dead}}), kNow));
  EXPECT_FALSE(is_abandoned(pulse(4, {{this_host(), dead}}), kNow)) << "one has not reported yet";
}

TEST(RunLiveness, BeforeTheFirstReportARunHasTwoMinutes) {
  RunLiveness starting;
  starting.start_ns = kNow - 100 * kSecond;
  starting.world_size = 2;
  EXPECT_FALSE(is_abandoned(starting, kNow));
  EXPECT_TRUE(is_abandoned(starting, kNow + 30 * kSecond));
}

TEST(RunLiveness, ARunThatSaysHowItEndedIsNeverAbandoned) {
  RunLiveness done = pulse(600, {});
  done.status = trace::RunStatus::kDone;
  EXPECT_FALSE(is_abandoned(done, kNow));
}

}  // namespace
}  // namespace shardlens::app
