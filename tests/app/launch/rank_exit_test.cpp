#include "app/launch/rank_exit.h"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace shardlens::app::launch {
namespace {

using namespace std::chrono_literals;

RankExit exit_at(int rank, std::chrono::milliseconds time, int code, int signal,
                 std::string message) {
  RankExit exit;
  exit.rank = rank;
  exit.code = code;
  exit.signal = signal;
  exit.time = std::chrono::steady_clock::time_point(time);
  exit.message = std::move(message);
  return exit;
}

TEST(FirstFailure, IsNothingWhenAllLeftWithoutAnError) {
  const std::vector exits = {exit_at(0, 10ms, 0, 0, ""), exit_at(1, 12ms, 0, 0, "")};
  EXPECT_EQ(first_failure(exits), nullptr);
}

TEST(FirstFailure, IsTheFirstByTimeWhenTheyAreFarApart) {
  const std::vector exits = {exit_at(0, 1000ms, 0, SIGSEGV, ""), exit_at(1, 10ms, 1, 0, "lost")};
  EXPECT_EQ(first_failure(exits)->rank, 1);
}

TEST(FirstFailure, PrefersAnErrorOfItsOwnToALostConnectionAtANearTie) {
  const std::vector exits = {
      exit_at(0, 10ms, 1, 0, "[gloo/transport/tcp/pair.cc:534] Connection closed by peer"),
      exit_at(1, 200ms, 1, 0, "out of memory")};
  EXPECT_EQ(first_failure(exits)->rank, 1);
}

TEST(FirstFailure, PrefersAnErrorOfItsOwnToHavingWaitedToConnect) {
  for (const char* waited :
       {"waited 120 s for rank 1", "rank 1 did not say whether it could connect."}) {
    const std::vector exits = {exit_at(0, 10ms, 1, 0, waited), exit_at(1, 200ms, 1, 0, "odd")};
    EXPECT_EQ(first_failure(exits)->rank, 1) << waited;
  }
}

TEST(FirstFailure, PrefersASignalToAnErrorAtANearTie) {
  const std::vector exits = {exit_at(0, 10ms, 1, 0, "odd"), exit_at(1, 20ms, 0, SIGKILL, "")};
  EXPECT_EQ(first_failure(exits)->rank, 1);
}

TEST(FirstFailure, LeavesOutRanksThatWereToldToLeave) {
  std::vector exits = {exit_at(0, 10ms, 0, SIGKILL, "")};
  exits[0].asked = true;
  EXPECT_EQ(first_failure(exits), nullptr);
}

TEST(Describe, SaysWhatEndedARank) {
  RankExit failed = exit_at(1, 0ms, 1, 0, "no memory");
  failed.says_why = true;
  EXPECT_EQ(describe(failed), "rank 1 failed: no memory");
  EXPECT_EQ(describe(exit_at(2, 0ms, 0, SIGSEGV, "")), "rank 2 was killed by SIGSEGV");
  EXPECT_EQ(describe(exit_at(0, 0ms, 9, 0, "")), "rank 0 left with exit code 9");
}

TEST(Describe, DoesNotTakeALastLineForTheReason) {
  EXPECT_EQ(describe(exit_at(0, 0ms, 1, 0, "1 of 6 steps")),
            "rank 0 left with exit code 1; its last line was: 1 of 6 steps");
  EXPECT_EQ(describe(exit_at(0, 0ms, 0, SIGBUS, "1 of 6 steps")),
            "rank 0 was killed by SIGBUS; its last line was: 1 of 6 steps");
}

TEST(RankExits, TellWhetherAnyRankRanOutOfPatience) {
  const std::string lost = "another rank closed its connection";
  const std::string waited = "did not take part within 4 s (collective_timeout_s)";
  const RankExit loser = exit_at(1, 0ms, 1, 0, lost), waiter = exit_at(0, 900ms, 1, 0, waited);
  const RankExit aborted =
      exit_at(0, 0ms, 0, SIGABRT, "Watchdog caught collective operation timeout: WorkNCCL(…)");
  EXPECT_TRUE(any_ran_out_of_patience(std::vector{loser, waiter}));
  EXPECT_TRUE(any_ran_out_of_patience(std::vector{loser, aborted}));
  EXPECT_FALSE(any_ran_out_of_patience(std::vector{loser}));
  EXPECT_FALSE(any_ran_out_of_patience(std::vector{exit_at(0, 0ms, 0, 0, waited)}));
}

}  // namespace
}  // namespace shardlens::app::launch
