#include "app/session/runs/run_banners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::app::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

trace::analysis::RunFigures run_with(trace::model::RunStatus status,
                                     std::vector<std::size_t> pending_of_ranks) {
  trace::analysis::RunFigures figures;
  figures.info.status = status;
  figures.info.device = "cuda";
  for (const std::size_t count : pending_of_ranks)
    figures.ranks.emplace_back().pending.resize(count);
  return figures;
}

TEST(RunNotes, TellOfCollectivesThatWereNotSeenToEnd) {
  EXPECT_THAT(banners_of(run_with(trace::model::RunStatus::kDone, {0, 0})), IsEmpty());
  EXPECT_THAT(banners_of(run_with(trace::model::RunStatus::kDone, {0, 1})),
              ElementsAre("Incomplete: 1 collective was not seen to end: figures of communication "
                          "are without them"));
  EXPECT_THAT(banners_of(run_with(trace::model::RunStatus::kDone, {4, 3})),
              ElementsAre("Incomplete: 7 collectives were not seen to end: figures of "
                          "communication are without them"));
}

// There they are what everybody waits in, and the diagnosis names them.
TEST(RunNotes, LeaveCollectivesOfRunsThatDidNotComeToTheirEndToTheDiagnosis) {
  EXPECT_THAT(banners_of(run_with(trace::model::RunStatus::kRunning, {2, 2})), IsEmpty());
  EXPECT_THAT(banners_of(run_with(trace::model::RunStatus::kFailed, {2, 2})), IsEmpty());
}

TEST(JobNotes, TellWhatMakesItsTimesUnlikeARealJobs) {
  trace::model::RunInfo job;
  job.device = "cuda";
  EXPECT_THAT(banners_of(job), IsEmpty());
  job.device = "cpu";
  job.settings.simulate_link = "latency_us=200,gbit_per_s=1";
  job.simulated_link = true;
  EXPECT_THAT(banners_of(job),
              ElementsAre("CPU run: shows how it works, not how fast a GPU is",
                          "Simulated link of 1 Gbit/s, 200 µs: communication takes as long as it "
                          "would there"));
}

TEST(JobNotes, TellOfBucketsThatWaitOnlyWhereThereAreSome) {
  trace::model::RunInfo job;
  job.device = "cuda";
  job.settings.overlap_comm = false;
  EXPECT_TRUE(is_simulated(job));
  EXPECT_THAT(banners_of(job), ElementsAre("Simulated without overlap: communication waits for the "
                                           "backward pass"));
  auto alone = job, sharded = job;
  alone.settings.ranks = 1;
  sharded.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  for (const auto& other : {alone, sharded}) {
    EXPECT_FALSE(is_simulated(other));
    EXPECT_THAT(banners_of(other), IsEmpty());
  }
}

}  // namespace
}  // namespace shardlens::app::session
