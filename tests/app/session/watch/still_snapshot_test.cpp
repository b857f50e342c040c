#include "app/session/watch/still_snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "app/session/runs/library_run.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::session {
namespace {

struct StillTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path run;  // the second of two
  StillTest() {
    for (const char* name : {"first", "second"}) {
      SyntheticOptions options;
      options.name = name;
      options.start_ns += name[0] == 's' ? 1'000'000'000 : 0;
      run = finished_run(folder.path(), options, 8);
      let_rest(run);
    }
  }
};

TEST_F(StillTest, ShowsTheRunAtATypicalStepAmongItsNeighbours) {
  const auto still =
      still_snapshot({.run = run, .runs_dir = folder.path(), .step = {}, .plan = false});
  ASSERT_TRUE(still);
  EXPECT_GE(still->run->selected_step, 3);
  ASSERT_TRUE(still->run->timeline);
  EXPECT_EQ(still->run->ordinal, "run 2");
  ASSERT_EQ(still->ledger->rows.size(), 2u);
  EXPECT_TRUE(still->ledger->rows[0].is_shown);
  EXPECT_TRUE(still->ledger->rows[1].is_baseline) << "the run before it";
  EXPECT_EQ(still->knobs.baseline_name, "run 1");
}

TEST_F(StillTest, NumbersTheRunsThatItIsComparedWith) {
  SyntheticOptions options;
  options.name = "third";
  options.start_ns += 2'000'000'000;
  const auto newer = finished_run(folder.path(), options, 8);
  const TemporaryFolder elsewhere;
  options.name = "elsewhere";
  const auto foreign = finished_run(elsewhere.path(), options, 8);
  const auto still = still_snapshot(
      {.run = run, .runs_dir = folder.path(), .other_runs = 0, .compared = {newer, foreign}});
  ASSERT_TRUE(still);
  const auto ordinal_of = [&](const std::string& name) {
    const auto& rows = still->ledger->rows;
    const auto row = std::ranges::find(rows, name, &ui::state::LedgerRow::name);
    return row == rows.end() ? "none" : row->ordinal;
  };
  EXPECT_EQ(ordinal_of("second"), "run 2");
  EXPECT_EQ(ordinal_of("third"), "run 3");
  EXPECT_EQ(ordinal_of("elsewhere"), "example 1");
}

TEST_F(StillTest, ReadsTheFiguresOfOtherJobsOnlyAsFarAsItShowsThem) {
  for (int i = 0; i < 12; ++i) {
    SyntheticOptions options;
    options.name = "older " + std::to_string(i);
    options.settings.model = "small";
    options.start_ns -= (i + 1) * std::int64_t{1'000'000'000};
    let_rest(finished_run(folder.path(), options, 8));
  }
  const auto still = still_snapshot(
      {.run = run, .runs_dir = folder.path(), .other_runs = 3, .step = {}, .plan = false});
  ASSERT_TRUE(still);
  EXPECT_EQ(still->ledger->rows.size(), 4u);
  EXPECT_EQ(still->run->ordinal, "run 14") << "numbers are those of the whole library";
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    kept += std::filesystem::exists(entry.path() / kRecordCacheFile) ? 1 : 0;
  }
  EXPECT_EQ(kept, 3) << "those beside the one on screen";
}

// Noise is that of the library, whatever the picture has room for.
TEST_F(StillTest, KnowsTheNoiseOfAllRunsOfItsJob) {
  for (int i = 0; i < 4; ++i) {
    SyntheticOptions options;
    options.name = "older " + std::to_string(i);
    options.start_ns -= (i + 1) * std::int64_t{1'000'000'000};
    finished_run(folder.path(), options, 8);
  }
  const auto few = still_snapshot(
      {.run = run, .runs_dir = folder.path(), .other_runs = 1, .step = {}, .plan = false});
  const auto all = still_snapshot(
      {.run = run, .runs_dir = folder.path(), .other_runs = 40, .step = {}, .plan = false});
  ASSERT_TRUE(few && all);
  EXPECT_NE(few->ledger->spread_note.find("6 runs"), std::string::npos) << few->ledger->spread_note;
  EXPECT_EQ(few->ledger->spread_note, all->ledger->spread_note);
}

// The next run will be run 1 there.
TEST_F(StillTest, ARunOfNoLibraryHasNoneOfItsNumbers) {
  const TemporaryFolder empty;
  const auto still =
      still_snapshot({.run = run, .runs_dir = empty.path(), .step = {}, .plan = false});
  ASSERT_TRUE(still);
  EXPECT_EQ(still->run->ordinal, "example 1");
  EXPECT_EQ(still->ledger->next_number, 1);
}

// As recorded: a picture says the same wherever it is taken.
TEST_F(StillTest, KnowsWhereTheMemoryOfTheRecordedMachineEnds) {
  const auto example =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / "slow_link_cap_1.shardlens";
  const auto still =
      still_snapshot({.run = example, .runs_dir = folder.path(), .step = {}, .plan = false});
  ASSERT_TRUE(still);
  const auto& rank = still->run->figures.ranks.front();
  ASSERT_GT(rank.peak.device_total_bytes, 0);
  ASSERT_TRUE(still->knobs.estimates);
  EXPECT_EQ(still->knobs.estimates->usable_bytes,
            rank.peak.device_total_bytes / still->run->figures.info.world_size);
}

TEST_F(StillTest, DividesAGpuThatRanksShare) {
  const auto example =
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs" / "h200_ddp_cap_25.shardlens";
  const auto still =
      still_snapshot({.run = example, .runs_dir = folder.path(), .step = {}, .plan = false});
  ASSERT_TRUE(still && still->knobs.estimates);
  const auto& rank = still->run->figures.ranks.front();
  ASSERT_EQ(still->run->figures.ranks.size(), 2u);
  EXPECT_EQ(still->knobs.estimates->usable_bytes,
            rank.peak.device_total_bytes / 2 - trace::predict::kReservedBytes);
}

TEST_F(StillTest, ShowsThePlanWhereItIsAskedFor) {
  const auto without = still_snapshot({.run = run, .runs_dir = {}, .step = {}, .plan = false});
  EXPECT_EQ(without->plan, nullptr);
  EXPECT_TRUE(without->knobs.estimates);
  const auto with = still_snapshot({.run = run, .runs_dir = {}, .step = {}, .plan = true});
  ASSERT_TRUE(with->plan);
  EXPECT_TRUE(with->plan->plan);
}

TEST_F(StillTest, ShowsTheAskedStep) {
  const auto still = still_snapshot({.run = run, .runs_dir = {}, .step = 1, .plan = false});
  ASSERT_TRUE(still);
  EXPECT_EQ(still->run->timeline->step, 1);
  EXPECT_EQ(still->ledger->rows.size(), 1u);
}

TEST_F(StillTest, AStepThatIsNotThereIsRefusedWithTheLastOne) {
  const auto still = still_snapshot({.run = run, .runs_dir = {}, .step = 99, .plan = false});
  ASSERT_FALSE(still);
  EXPECT_EQ(still.error().kind, trace::base::ErrorKind::kUsage);
  EXPECT_NE(still.error().message.find("step 7"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::app::session
