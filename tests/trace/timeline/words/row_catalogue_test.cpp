#include "trace/timeline/words/row_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardlens::trace::timeline {
namespace {

LaneContent lane(int number, model::LaneKind kind, const std::string& name) {
  LaneContent content;
  content.lane = number;
  content.kind = kind;
  content.name = name;
  return content;
}

void set_events(LaneContent& lane, model::EventKind kind, std::int64_t count) {
  lane.events[static_cast<std::size_t>(kind)] = count;
}

// One rank of a GPU job before its rows were read.
RankContent gpu_rank(int number) {
  RankContent rank;
  rank.rank = number;
  rank.lanes = {lane(0, model::LaneKind::kPhases, "training thread"),
                lane(1, model::LaneKind::kOperators, "main thread"),
                lane(2, model::LaneKind::kOperators, "autograd thread"),
                lane(3, model::LaneKind::kCompute, "GPU 0 stream 7"),
                lane(4, model::LaneKind::kCommunication, "stream 20, world"),
                lane(5, model::LaneKind::kCopies, "stream 7, copies")};
  rank.lanes[0].spans = -1;
  rank.lanes[1].operator_levels = 3;
  for (const std::size_t thread : {1u, 2u}) {
    set_events(rank.lanes[thread], model::EventKind::kOperator, 10);
    set_events(rank.lanes[thread], model::EventKind::kLaunch, 5);
  }
  set_events(rank.lanes[3], model::EventKind::kKernel, 50);
  set_events(rank.lanes[4], model::EventKind::kKernel, 7);
  rank.lanes[4].collectives = -1;
  set_events(rank.lanes[5], model::EventKind::kCopy, 3);
  return rank;
}

std::vector<std::string> labels(const RowCatalogue& rows, std::size_t rank) {
  std::vector<std::string> result;
  for (const int id : rows.ranks()[rank].rows) {
    result.push_back(rows.rows()[static_cast<std::size_t>(id)].label);
  }
  return result;
}

TEST(RowCatalogue, ShowsThreadsThenStreamsInWordsOfTheField) {
  RowCatalogue rows;
  const std::vector ranks{gpu_rank(0)};
  rows.update(ranks);
  const std::vector<std::string> expected{"Rank 0",
                                          "Phases",
                                          "Operators · main thread",
                                          "Launches · main thread",
                                          "Operators · autograd thread",
                                          "Launches · autograd thread",
                                          "Compute stream 7",
                                          "Communication stream 20",
                                          "Copies"};
  EXPECT_EQ(labels(rows, 0), expected);
  EXPECT_EQ(rows.rows()[0].label, "All ranks");
  EXPECT_EQ(rows.rows()[0].rank, -1);
}

TEST(RowCatalogue, RowsKeepTheirNumbersWhenMoreBecomesKnown) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0), gpu_rank(1)};
  rows.update(ranks);
  const std::vector<TimelineRow> before = rows.rows();
  for (RankContent& rank : ranks) {
    rank.lanes[0].spans = 12;
    rank.lanes[4].collectives = 7;
    rank.lanes[4].collective_function = "All-reduce";
    rank.lanes[4].group_name = "world";
    rank.bucket_ready = 4;
    rank.memory_samples = 9;
    rank.counters = {{"GPU clock", "MHz", 3}};
  }
  rows.update(ranks);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(rows.rows()[i].id, static_cast<int>(i));
    EXPECT_EQ(rows.rows()[i].kind, before[i].kind);
    EXPECT_EQ(rows.rows()[i].lane, before[i].lane);
    EXPECT_EQ(rows.rows()[i].rank, before[i].rank);
  }
  const auto shown = labels(rows, 1);
  EXPECT_EQ(shown[7], "All-reduce · world");
  EXPECT_EQ(shown[9], "Buckets ready");
  EXPECT_EQ(shown[10], "Memory allocated");
  EXPECT_EQ(shown[11], "GPU clock");
  EXPECT_EQ(shown.size(), 12u) << "the kernels of collectives are shown as those";
}

TEST(RowCatalogue, OfAGpusCountersTheFewThatSayMostLeadTheOthers) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0)};
  // As a live run learns of them: rates come later than what can be read at once.
  ranks[0].counters = {{"PCIe sent", "bytes/s", 1},
                       {"queue depth", "", 3},
                       {"SM clock", "MHz", 1},
                       {"GPU temperature", "°C", 1},
                       {"GPU utilization", "%", 1}};
  rows.update(ranks);
  ranks[0].counters.push_back({"NVLink sent", "bytes/s", 1});
  ranks[0].counters.push_back({"Throttled", "share", 1});
  ranks[0].counters.push_back({"GPU power", "W", 1});
  rows.update(ranks);
  const auto shown = labels(rows, 0);
  const std::vector<std::string> counters(shown.end() - 8, shown.end());
  EXPECT_EQ(counters, (std::vector<std::string>{"GPU utilization", "GPU power", "SM clock",
                                                "Throttled", "GPU temperature", "NVLink sent",
                                                "PCIe sent", "queue depth"}));
  for (const TimelineRow& row : rows.rows()) {
    if (row.label == "SM clock" || row.label == "Throttled") {
      EXPECT_EQ(row.kind, RowKind::kGpu);
    } else if (row.label == "NVLink sent") {
      EXPECT_EQ(row.kind, RowKind::kCounter);
    }
  }
}

TEST(RowCatalogue, TheThreadThatRunsTheStepsComesFirst) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0)};
  ranks[0].lanes[0].spans = 9;
  ranks[0].lanes[0].name = "annotations of thread 2";
  ranks[0].lanes[1].name = "thread 1";
  ranks[0].lanes[2].name = "thread 2";
  rows.update(ranks);
  const auto shown = labels(rows, 0);
  EXPECT_EQ(shown[2], "Operators · thread 2");
  EXPECT_EQ(shown[3], "Launches · thread 2");
  EXPECT_EQ(shown[4], "Operators · thread 1");
}

// Rows and events of a live run need not come together.
TEST(RowCatalogue, KernelsWhoseCollectivesComeLaterHaveNoRowOfTheirOwnFromThenOn) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0)};
  const auto kernel_rows = [&](std::int64_t collectives) {
    ranks[0].lanes[4].collectives = collectives;
    rows.update(ranks);
    return std::ranges::count(labels(rows, 0), "NCCL kernels stream 20");
  };
  EXPECT_EQ(kernel_rows(8), 0) << "the kernel of one is still to come";
  EXPECT_EQ(kernel_rows(6), 1);
  EXPECT_EQ(kernel_rows(7), 0);
}

TEST(RowCatalogue, KernelsOnACommunicationStreamThatAreNoCollectivesAreNotHidden) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0)};
  ranks[0].lanes[4].collectives = 5;
  rows.update(ranks);
  const auto shown = labels(rows, 0);
  EXPECT_EQ(std::ranges::count(shown, "NCCL kernels stream 20"), 1);
}

// Several collectives may share a kernel, so that there are as many as all kernels beside casts.
TEST(RowCatalogue, KernelsThatComputeOnACommunicationStreamAreNotHiddenByManyCollectives) {
  RowCatalogue rows;
  std::vector ranks{gpu_rank(0)};
  ranks[0].lanes[4].collectives = 300;
  ranks[0].lanes[4].computing_kernels = 3;
  rows.update(ranks);
  EXPECT_EQ(std::ranges::count(labels(rows, 0), "Kernels stream 20"), 1);
}

TEST(RowCatalogue, FindsTheRowOfAnEvent) {
  RowCatalogue catalogue;
  const std::vector ranks{gpu_rank(0), gpu_rank(3)};
  catalogue.update(ranks);
  TimelineRows rows;
  rows.rows = catalogue.rows();
  rows.ranks = catalogue.ranks();
  const auto kind_of_row = [&](EventTableKind table, int lane) {
    const int row = row_of(rows, table, 3, lane);
    EXPECT_GE(row, 0);
    EXPECT_EQ(rows.rows[static_cast<std::size_t>(row)].rank, 3);
    EXPECT_EQ(rows.rows[static_cast<std::size_t>(row)].lane, lane);
    return rows.rows[static_cast<std::size_t>(row)].kind;
  };
  EXPECT_EQ(kind_of_row(EventTableKind::kLaunch, 2), RowKind::kLaunches);
  EXPECT_EQ(kind_of_row(EventTableKind::kKernel, 3), RowKind::kKernels);
  EXPECT_EQ(kind_of_row(EventTableKind::kKernel, 4), RowKind::kCommunication);
  EXPECT_EQ(row_of(rows, EventTableKind::kAllocation, 3, 1), -1);
  EXPECT_EQ(row_of(rows, EventTableKind::kKernel, 9, 3), -1);
}

}  // namespace
}  // namespace shardlens::trace::timeline
