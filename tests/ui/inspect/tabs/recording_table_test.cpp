#include "ui/inspect/tabs/recording_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/ui/inspect/testing/sample_tables.h"
#include "tests/ui/inspect/testing/shown_cells.h"

namespace shardlens::ui::inspect {

namespace {

TEST(RecordingTable, HasARowPerRankWithWhatRecordedItAndWhatThatCost) {
  const state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  auto& ranks = run->figures.ranks;
  ranks.assign(2, trace::analysis::RankFigures{});
  for (int rank = 0; rank < 2; ++rank) {
    trace::analysis::RankFigures& of = ranks[static_cast<std::size_t>(rank)];
    of.info.rank = rank;
    of.info.device = "cuda:" + std::to_string(rank);
    of.info.device_name = "NVIDIA H100";
    of.info.versions = "driver 580.95.05, NCCL 2.28.9";
    of.info.link = "NVLink 4, 18 links";
    of.info.link_bytes_per_second = 450e9;
    of.info.sources = "kernels: CUPTI; memory: the allocator";
    of.cost = trace::model::RecorderCost{rank, 5'000'000, 9'000'000, 1'234'567};
  }
  ranks[1].info.sources = "kernels: CUPTI; memory: nothing";
  run->figures.recorder.losses = {{1, "queue full", 3}, {1, "disk full", 4}};
  const auto table = recording_table(run);
  ASSERT_EQ(table->rows, 2u);
  EXPECT_EQ(shown(*column_named(*table, "Link peak"), 0), "450.0 GB/s");
  EXPECT_EQ(column_named(*table, "Software")->cell(1).text, "driver 580.95.05, NCCL 2.28.9");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 0), "0");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 1), "7");
  EXPECT_EQ(shown(*column_named(*table, "Callbacks"), 1), "5.00 ms");
  EXPECT_EQ(shown(*column_named(*table, "Events"), 1), "1,234,567");
  EXPECT_EQ(column_named(*table, "Host"), nullptr) << "nobody said";
  const auto sources = source_lines(run->figures);
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].what, "kernels");
  EXPECT_EQ(sources[0].source, "CUPTI");
  EXPECT_EQ(sources[0].ranks, "") << "all ranks";
  EXPECT_EQ(sources[2].source, "nothing");
  EXPECT_EQ(sources[2].ranks, "rank 1");
}

TEST(RecordingTable, KeepsItsOrderWhileARunOfManyRanksGoesOn) {
  const state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  run->figures.info.status = trace::model::RunStatus::kRunning;
  run->figures.ranks.assign(64, trace::analysis::RankFigures{});
  const auto after = [&](int looks) {
    run->figures.recorder.losses = {{40, "queue full", 100 / looks},
                                    {50, "queue full", 10 * looks}};
    for (int rank = 0; rank < 64; ++rank) {
      trace::analysis::RankFigures& of = run->figures.ranks[static_cast<std::size_t>(rank)];
      of.info.rank = rank;
      of.cost =
          trace::model::RecorderCost{rank, (rank * 37 * looks) % 61, 9'000'000, 5'000 * looks};
    }
    const auto table = recording_table(run);
    std::vector<std::string> order;
    for (std::size_t row = 0; row < table->rows; ++row) {
      order.push_back(shown(*column_named(*table, "Rank"), row));
    }
    return order;
  };
  const auto first = after(1);
  EXPECT_EQ((std::vector<std::string>{first.begin(), first.begin() + 4}),
            (std::vector<std::string>{"40", "50", "0", "1"}));
  EXPECT_EQ(after(2), first);
  EXPECT_EQ(after(7), first);
}

TEST(RecordingTable, OfAThousandRanksShowsThoseThatStandOutAndFoldsTheRest) {
  const state::Snapshot snapshot = tables_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  auto& ranks = run->figures.ranks;
  run->figures.info.status = trace::model::RunStatus::kDone;
  ranks.assign(1024, trace::analysis::RankFigures{});
  run->figures.recorder.losses.clear();
  for (int rank = 0; rank < 1024; ++rank) {
    trace::analysis::RankFigures& of = ranks[static_cast<std::size_t>(rank)];
    of.info.rank = rank;
    of.info.device_name = "NVIDIA H100";
    of.info.host = "node" + std::to_string(rank / 8);
    of.info.sources = rank == 700 || rank == 3 ? "kernels: nothing" : "kernels: CUPTI";
    if (rank != 77) of.cost = trace::model::RecorderCost{rank, 1'000'000 + rank, 9'000'000, 5'000};
    if (rank % 10 == 4) run->figures.recorder.losses.push_back({rank, "queue full", rank});
  }
  const auto table = recording_table(run);
  ASSERT_EQ(table->rows, kMostRecordingRows / 2);
  const present::TableColumn& rank = *column_named(*table, "Rank");
  EXPECT_EQ(shown(rank, 0), "77") << "nobody knows what it lost";
  EXPECT_EQ(shown(rank, 1), "1014");
  EXPECT_EQ(shown(*column_named(*table, "Lost"), 1), "1,014");
  EXPECT_EQ(shown(rank, 2), "1004");
  ASSERT_EQ(table->pinned.size(), 1u);
  const auto rest = [&](std::string_view title) {
    const auto at = std::ranges::find(table->columns, title, &present::TableColumn::title);
    return table->pinned[0].at(static_cast<std::size_t>(at - table->columns.begin())).text;
  };
  EXPECT_EQ(rest("Rank"), "+ 1,008");
  EXPECT_EQ(rest("Device"), "NVIDIA H100");
  EXPECT_EQ(rest("Host"), "various");
  EXPECT_EQ(rest("Lost"), "≤ 864");
  EXPECT_EQ(rest("Events"), "5,000") << "all alike";
  EXPECT_EQ(recording_table(run, false)->rows, 1024u);
  EXPECT_TRUE(recording_table(run, false)->pinned.empty());

  const auto sources = source_lines(run->figures);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].ranks, "ranks 0 to 2, 4 to 699, 701 to 1023");
  EXPECT_EQ(sources[1].ranks, "ranks 3, 700");
  const std::string losses = losses_text(run->figures.recorder);
  EXPECT_TRUE(losses.starts_with("rank 1014: 1,014 (queue full); rank 1004: ")) << losses;
  EXPECT_TRUE(losses.ends_with(" elsewhere")) << losses;
  EXPECT_LT(losses.size(), 400u);
}

}  // namespace

}  // namespace shardlens::ui::inspect
