// Runs that grow, and runs of which something cannot be read.
#include <gtest/gtest.h>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/explore/run_explorer.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::test {
namespace {

TEST(ExploredRun, ShowsTheOtherRanksWhereOneCannotBeRead) {
  const KnownRun run;
  write_text(store::rank_file(run.path(), 1), "this is no trace");
  const auto explorer = open_whole(run.path());
  ASSERT_TRUE(explorer);
  const auto rows = explorer->rows();
  EXPECT_EQ(rows->ranks.size(), 1u);
  EXPECT_NE(rows->incomplete.find("rank_1"), std::string::npos) << rows->incomplete;
  EXPECT_EQ(picture_of(*explorer, row_named(*rows, 0, "Compute stream 7"), KnownRun::at(1, 0),
                       KnownRun::at(2, 0), 1'000)
                .pieces.size(),
            3u);
}

TEST(ExploredRun, ShowsARankOfALiveRunOnceItCanBeRead) {
  KnownRun run;
  run.put_on_hosts({"node", "node"});  // which closes its files
  const auto file = store::rank_file(run.path(), 1), aside = run.path() / "aside";
  std::filesystem::rename(file, aside);
  write_text(file, "nothing yet");
  const auto explorer = open_whole(run.path(), true);
  ASSERT_TRUE(explorer);
  EXPECT_FALSE(explorer->refresh().value_or(true));
  EXPECT_EQ(explorer->rows()->ranks.size(), 1u);
  std::filesystem::rename(aside, file);
  EXPECT_TRUE(explorer->refresh().value_or(false));
  while (explorer->work().value_or(false)) {
  }
  const auto rows = explorer->rows();
  EXPECT_EQ(rows->ranks.size(), 2u);
  EXPECT_EQ(rows->steps.size(), 6u);
  EXPECT_EQ(rows->events, 60);
  EXPECT_EQ(rows->incomplete, "");
}

// More than what the first frame waits for.
TEST(ExploredRun, SaysWhetherAllRowsWereRead) {
  const KnownRun run(200);
  const auto explorer = explore::RunExplorer::open(run.path());
  ASSERT_TRUE(explorer);
  EXPECT_FALSE((*explorer)->rows()->has_all_rows);
  while ((*explorer)->work().value_or(false)) {
  }
  EXPECT_TRUE((*explorer)->rows()->has_all_rows);
}

TEST(ExploredRun, GrowsWithALiveRun) {
  KnownRun run(1);
  const auto explorer = open_whole(run.path(), true);
  ASSERT_TRUE(explorer);
  EXPECT_EQ(explorer->rows()->steps.size(), 2u);
  EXPECT_FALSE(explorer->refresh().value_or(true)) << "nothing has happened";
  for (std::int64_t step = 1; step < 4; ++step) {
    run.add_step();
    EXPECT_TRUE(explorer->refresh().value_or(false));
    while (explorer->work().value_or(false)) {
    }
    const auto rows = explorer->rows();
    EXPECT_EQ(rows->steps.size(), 2u * static_cast<std::size_t>(step + 1));
    EXPECT_EQ(rows->events, 20 * (step + 1));
    EXPECT_EQ(rows->end_ns, KnownRun::at(step + 1, 0));
    const timeline::RowPicture kernels =
        picture_of(*explorer, row_named(*rows, 1, "Compute stream 7"), KnownRun::at(step, 0),
                   KnownRun::at(step + 1, 0), 1'000);
    EXPECT_EQ(kernels.pieces.size(), 3u);
    const timeline::RowPicture memory =
        picture_of(*explorer, row_named(*rows, 0, "Memory allocated"), KnownRun::at(step, 0),
                   KnownRun::at(step + 1, 0), 1'000);
    EXPECT_EQ(memory.area.size(), 2u);
  }
}

TEST(ExploredRun, TellsWhichPartsOfWhichRanksCannotBeRead) {
  const KnownRun run;
  for (const int rank : {0, 1}) {
    change_file(store::rank_file(run.path(), rank),
                "update chunk set data=zeroblob(length(data)) where kind='launch'");
  }
  const auto explorer = open_whole(run.path());
  ASSERT_TRUE(explorer);
  const std::string incomplete = explorer->rows()->incomplete;
  EXPECT_NE(incomplete.find("6 parts cannot be read"), std::string::npos) << incomplete;
  EXPECT_NE(incomplete.find("rank 0, lane 1, launch"), std::string::npos) << incomplete;
  EXPECT_EQ(explorer->rows()->ranks.size(), 2u);
}

TEST(ExploredRun, OfAWholeRunMissesNothingAndKnowsWhereEachRankEnds) {
  const KnownRun run;
  const auto explorer = open_whole(run.path());
  const auto rows = explorer->rows();
  EXPECT_EQ(rows->incomplete, "");
  for (const timeline::TimelineRank& rank : rows->ranks) EXPECT_EQ(rank.end_ns, KnownRun::at(3, 0));
}

// An operator that lasts is recorded with what it called last, after what it called first.
TEST(ExploredRun, OperatorsThatLastDoNotContradictThoseRecordedBefore) {
  const Folder folder;
  const auto path = folder / "run";
  model::RunInfo info = run_info("run", 1);
  ASSERT_TRUE(store::create_run_at(path, info));
  const auto operator_at = [](std::int64_t start, std::int64_t end, std::uint32_t depth) {
    model::Event event;
    event.start_ns = KnownRun::at(0, start);
    event.duration_ns = KnownRun::at(0, end) - event.start_ns;
    event.name = 1;
    event.flags = depth << model::kEventDepthShift;
    return event;
  };
  auto writer = store::RowWriter::create_file(store::rank_file(path, 0), 0);
  ASSERT_TRUE(writer) << writer.error().message;
  model::Batch first;
  first.strings = {{0, 1, "aten::linear"}};
  first.lanes = {{0, 0, model::LaneKind::kOperators, 1}};
  first.events = {
      {0, 0, model::EventKind::kOperator, {operator_at(10, 20, 1), operator_at(30, 40, 1)}}};
  model::Batch second;
  second.events = {
      {0, 0, model::EventKind::kOperator, {operator_at(5, 150, 0), operator_at(110, 120, 1)}}};
  for (const model::Batch& batch : {first, second}) {
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit(KnownRun::at(0, 200)));
  }
  const auto explorer = open_whole(path);
  ASSERT_TRUE(explorer);
  EXPECT_EQ(explorer->rows()->events, 4);
  EXPECT_EQ(explorer->rows()->overlapping_events, 0);
  EXPECT_EQ(explorer->rows()->reversed_events, 0);
}

}  // namespace
}  // namespace shardlens::trace::test
