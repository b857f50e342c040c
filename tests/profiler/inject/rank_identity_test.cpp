#include "profiler/inject/rank_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <vector>

#include "tests/files.h"

namespace shardlens::profiler::inject {
namespace {

namespace fs = std::filesystem;

VariableLookup lookup_in(std::map<std::string, std::string> variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(RankIdentity, ComesFromTheLauncher) {
  struct Launcher {
    std::map<std::string, std::string> variables;
    int rank, local_rank, world_size;
  };
  const Launcher launchers[] = {
      {{{"RANK", "5"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}, {"SLURM_PROCID", "0"}}, 5, 1, 8},
      {{{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}, 3, 2, 4},
      {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 2, -1, 4},
  };
  for (const auto& [variables, rank, local_rank, world_size] : launchers) {
    const auto identity = rank_from_environment(lookup_in(variables));
    ASSERT_TRUE(identity && *identity) << testing::PrintToString(variables);
    EXPECT_EQ((*identity)->rank, rank);
    EXPECT_EQ((*identity)->local_rank, local_rank);
    EXPECT_EQ((*identity)->world_size, world_size);
  }
}

// A program that starts its own ranks hands its variables on to all of them.
TEST(RankIdentity, OfWhoWasStartedAloneIsAmongAnUnknownNumber) {
  for (const std::map<std::string, std::string>& variables :
       {std::map<std::string, std::string>{{"RANK", "0"}, {"WORLD_SIZE", "1"}},
        {{"RANK", "0"}},
        // A batch script's: no task of a step.
        {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}}) {
    const auto identity = rank_from_environment(lookup_in(variables));
    ASSERT_TRUE(identity && *identity) << testing::PrintToString(variables);
    EXPECT_EQ((*identity)->world_size, 0) << testing::PrintToString(variables);
    EXPECT_EQ((*identity)->is_alone, variables.contains("WORLD_SIZE"));
  }
}

TEST(RankIdentity, IsThatOfALargerCommunicatorThanTheLauncherKnewOf) {
  const auto once_connected = [](int world_size, int ranks, bool is_worker) {
    return rank_once_connected(RankIdentity{.rank = 0, .world_size = world_size},
                               {.rank = 1, .ranks = ranks, .nodes = 1}, is_worker)
        ->told_by;
  };
  EXPECT_EQ(once_connected(4, 4, false), RankSource::kLauncher);
  EXPECT_EQ(once_connected(4, 2, true), RankSource::kLauncher);
  EXPECT_EQ(once_connected(0, 2, false), RankSource::kCommunicator);
  EXPECT_EQ(once_connected(2, 8, false), RankSource::kCommunicator) << "RANK is a node's";
  EXPECT_EQ(once_connected(4, 4, true), RankSource::kCommunicator) << "inherited by all workers";
  EXPECT_EQ(once_connected(0, 1, false), RankSource::kLauncher);
  EXPECT_EQ(rank_once_connected(std::nullopt, {.rank = 1, .ranks = 2, .nodes = 1}, false)->rank, 1);
}

TEST(RankIdentity, IsNotThatOfAProgramThatOnlyStartsRanks) {
  using Arguments = std::vector<std::string>;
  for (const Arguments& launcher :
       {Arguments{"/usr/bin/python3.12", "/venv/bin/torchrun", "--nproc-per-node", "gpu", "a.py"},
        Arguments{"torchrun", "a.py"}, Arguments{"python", "-m", "torch.distributed.run", "a.py"},
        Arguments{"python", "-X", "dev", "-u", "/venv/bin/accelerate", "launch", "a.py"},
        Arguments{"/opt/bin/deepspeed", "a.py"}}) {
    EXPECT_TRUE(starts_ranks(launcher)) << testing::PrintToString(launcher);
  }
  for (const Arguments& program :
       {Arguments{}, Arguments{"python"}, Arguments{"python", "-m"},
        Arguments{"python", "-u", "train.py", "torchrun"}, Arguments{"python", "-c", "torchrun"},
        Arguments{"./train", "--with", "torchrun"}}) {
    EXPECT_FALSE(starts_ranks(program)) << testing::PrintToString(program);
  }
  ASSERT_FALSE(own_arguments().empty());
  EXPECT_NE(own_arguments().front().find("profiler_inject_tests"), std::string::npos);
}

TEST(RankIdentity, IsNoneWithoutOneAndAnErrorWithNonsense) {
  const auto none = rank_from_environment(lookup_in({}));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  const auto nonsense = rank_from_environment(lookup_in({{"RANK", "-1"}}));
  ASSERT_FALSE(nonsense);
  EXPECT_NE(nonsense.error().message.find("RANK is \"-1\""), std::string::npos);
}

TEST(RankIdentity, IsThatOfACommunicatorWithSeveralRanks) {
  EXPECT_FALSE(rank_from_communicator({.rank = 0, .ranks = 1, .nodes = 1}));
  const auto local = rank_from_communicator({.rank = 3, .ranks = 4, .nodes = 1});
  ASSERT_TRUE(local);
  EXPECT_EQ(local->rank, 3);
  EXPECT_EQ(local->world_size, 4);
  EXPECT_EQ(local->local_world_size, 4);
  const auto spread = rank_from_communicator({.rank = 3, .ranks = 4, .nodes = 2});
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->local_world_size, 0) << "not known";
}

TEST(RankIdentity, WorkersOfMultiprocessingAreKnownByTheirCommand) {
  EXPECT_TRUE(is_worker_of_multiprocessing(
      {"python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=7)",
       "--multiprocessing-fork"}));
  EXPECT_FALSE(is_worker_of_multiprocessing({"python", "train.py", "--spawn"}));
}

class ClaimRankTest : public testing::Test {
 protected:
  const trace::test::Folder parent_;
  const fs::path folder_ = parent_.path();
};

TEST_F(ClaimRankTest, OneProcessHasARank) {
  const auto first = claim_rank(folder_, RankIdentity{1, 1, 2});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rank, 1);
  const auto second = claim_rank(folder_, RankIdentity{1, 1, 2});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);
  int process = 0, world = 0;
  std::ifstream(folder_ / "rank_1.claim") >> process >> world;
  EXPECT_EQ(process, getpid());
  EXPECT_EQ(world, 2);
}

TEST_F(ClaimRankTest, WhoseProcessHasEndedIsKeptAndSaidToHaveBeenRestarted) {
  const pid_t first = fork();
  if (first == 0) _exit(claim_rank(folder_, RankIdentity{1, 1, 2}) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(first, &status, 0), first);
  ASSERT_EQ(status, 0);
  const auto second = claim_rank(folder_, RankIdentity{1, 1, 2});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("process " + std::to_string(first) + ", which has ended"),
            std::string::npos)
      << second.error().message;
  EXPECT_TRUE(fs::exists(folder_ / "rank_1.restarted"));
  int process = 0;
  std::ifstream(folder_ / "rank_1.claim") >> process;
  EXPECT_EQ(process, first);
}

TEST_F(ClaimRankTest, ProcessesThatInheritedTheVariablesOfOneAreRanksEach) {
  const RankIdentity inherited{.rank = 0, .local_rank = 0};
  ASSERT_EQ(claim_rank(folder_, inherited)->rank, 0);
  const auto second = claim_rank(folder_, inherited);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->rank, 1);
  EXPECT_EQ(second->told_by, RankSource::kOrderOfStarting);
}

// As an evaluation that the program starts beside itself.
TEST_F(ClaimRankTest, AChildOfTheOnlyRankIsNoSecondOne) {
  const RankIdentity inherited{.rank = 0, .local_rank = 0, .is_alone = true};
  ASSERT_EQ(claim_rank(folder_, inherited)->rank, 0);
  const auto child = claim_rank(folder_, inherited);
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("is left out"), std::string::npos);
}

TEST_F(ClaimRankTest, IsClaimedByAnotherOrByThisProcess) {
  EXPECT_FALSE(is_claimed_by_another(folder_, 1));
  ASSERT_TRUE(claim_rank(folder_, RankIdentity{1, 1, 2}));
  EXPECT_FALSE(is_claimed_by_another(folder_, 1));
  const pid_t other = fork();
  if (other == 0) _exit(is_claimed_by_another(folder_, 1) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST_F(ClaimRankTest, WithoutALauncherTheFirstFreeOneIsTaken) {
  ASSERT_TRUE(claim_rank(folder_, RankIdentity{0, 0, 1}));
  const auto guessed = claim_rank(folder_, std::nullopt);
  ASSERT_TRUE(guessed);
  EXPECT_EQ(guessed->rank, 1);
  EXPECT_EQ(guessed->told_by, RankSource::kOrderOfStarting);
}

TEST_F(ClaimRankTest, ACommunicatorsRankThatAnotherHasIsNoReasonToGiveUp) {
  const auto of_communicator = rank_from_communicator({.rank = 1, .ranks = 2, .nodes = 1});
  const auto first = claim_rank(folder_, of_communicator);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rank, 1);
  EXPECT_EQ(first->told_by, RankSource::kCommunicator);
  // Rank 1 of another group of two.
  const auto second = claim_rank(folder_, of_communicator);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->rank, 0);
  EXPECT_EQ(second->told_by, RankSource::kOrderOfStarting);
}

TEST_F(ClaimRankTest, WhatTheFileLacksStandsInTheClaim) {
  ASSERT_TRUE(claim_rank(folder_, RankIdentity{1, 1, 2}));
  tell_unwritten(folder_, 1, 1234);
  std::int64_t process = 0, world = 0, records = 0;
  std::ifstream(folder_ / "rank_1.claim") >> process >> world >> records;
  EXPECT_EQ(process, getpid());
  EXPECT_EQ(records, 1234);
}

TEST_F(ClaimRankTest, AFolderThatIsGoneIsAnError) {
  const auto claimed = claim_rank(folder_ / "gone", std::nullopt);
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().kind, trace::base::ErrorKind::kIo);
}

}  // namespace
}  // namespace shardlens::profiler::inject
