#include "trace/model/rank_outcome.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace shardlens::trace::model {
namespace {

RankOutcome trained(std::int64_t steps, std::int64_t total) {
  RankOutcome outcome;
  outcome.steps = steps;
  outcome.steps_total = total;
  outcome.finished = true;
  return outcome;
}

TEST(RankOutcome, IsReadAsItWasToldLast) {
  const int descriptor = memfd_create("outcome", MFD_CLOEXEC);
  EXPECT_FALSE(read_outcome(descriptor)) << "nothing was told";
  tell_outcome(descriptor, trained(1, 9));
  RankOutcome last = trained(2, 9);
  last.unwritten = {.steps = 3, .events = 4};
  last.set_recording_error(std::string(2000, 'x'));
  tell_outcome(descriptor, last);
  const auto read = read_outcome(descriptor);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->steps, 2);
  EXPECT_EQ(read->unwritten.total(), 7);
  EXPECT_EQ(read->recording_error_text(), std::string(511, 'x'));
  ASSERT_EQ(ftruncate(descriptor, 20), 0);
  EXPECT_FALSE(read_outcome(descriptor)) << "another version's";
  close(descriptor);
  EXPECT_FALSE(read_outcome(-1));
}

TEST(RankOutcome, ARunWhoseRanksCameToTheirEndAndRecordedAllIsDone) {
  const ToldByRank ranks[] = {{0, trained(5, 5)}, {1, trained(5, 5)}};
  EXPECT_EQ(end_of(ranks).status, RunStatus::kDone);
  EXPECT_EQ(end_of(ranks).reason, "");
  EXPECT_EQ(end_of({}).status, RunStatus::kDone) << "nobody told anything";
}

TEST(RankOutcome, NamesTheRankThatGotASignalAndHowFarAllCame) {
  RankOutcome left = trained(12, 1'100);
  left.left_early = true;
  RankOutcome asked = left;
  asked.stop_signal = SIGTERM;
  const ToldByRank ranks[] = {{0, left}, {1, asked}};
  EXPECT_EQ(end_of(ranks).status, RunStatus::kStopped);
  EXPECT_EQ(end_of(ranks).reason, "stopped after 12 of 1,100 steps: rank 1 was sent SIGTERM");
  asked.steps = asked.steps_total = 0;
  const ToldByRank unprepared[] = {{0, asked}};
  EXPECT_EQ(end_of(unprepared).reason, "stopped: rank 0 was sent SIGTERM");
}

TEST(RankOutcome, ARunIsIncompleteAsSoonAsOneRecordOfOneRankIsMissing) {
  RankOutcome full = trained(5, 5);
  full.unwritten = {.steps = 1, .spans = 2, .events = 1'012'345, .others = 1};
  full.set_recording_error("the disk is full");
  const ToldByRank ranks[] = {{0, trained(5, 5)}, {1, full}};
  EXPECT_EQ(end_of(ranks).status, RunStatus::kIncomplete);
  EXPECT_EQ(end_of(ranks).reason,
            "1 step, 2 phases, 1,012,345 events and 1 other record of rank 1 were not recorded: "
            "the disk is full");
  full.left_early = true;
  const ToldByRank stopped[] = {{0, full}};
  EXPECT_EQ(end_of(stopped).status, RunStatus::kStopped);
  EXPECT_NE(end_of(stopped).reason.find("were not recorded"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::trace::model
