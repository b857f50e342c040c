#include "trace/explore/run_explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/store/run/run_folder.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::test {
namespace {

using Names = std::vector<std::string>;

class OpenRun : public testing::Test {
 protected:
  int row(const std::string& label, int rank = 0) const {
    const int id = row_named(*explorer_->rows(), rank, label);
    EXPECT_GE(id, 0) << label;
    return id;
  }
  timeline::RowPicture step_of(const std::string& label, std::int64_t step = 1,
                               Names* names = nullptr, int rank = 0) const {
    return picture_of(*explorer_, row(label, rank), KnownRun::at(step, 0),
                      KnownRun::at(step + 1, 0), 1'000, names);
  }

  const KnownRun run_;
  const std::unique_ptr<explore::RunExplorer> explorer_ = open_whole(run_.path());
};

void expect_piece(const timeline::Piece& piece, std::int64_t start_us, std::int64_t end_us,
                  base::TimeClass piece_class, std::int64_t step = 1) {
  EXPECT_EQ(piece.start_ns, KnownRun::at(step, start_us));
  EXPECT_EQ(piece.end_ns, KnownRun::at(step, end_us));
  EXPECT_EQ(piece.piece_class, piece_class);
}

TEST_F(OpenRun, RowsAreThoseOfTheLanesAndSamples) {
  const auto rows = explorer_->rows();
  EXPECT_EQ(rows->ranks.size(), 2u);
  EXPECT_EQ(rows->ranks[1].device, "cuda:1");
  Names labels;
  for (const int id : rows->ranks[0].rows) {
    labels.push_back(rows->rows[static_cast<std::size_t>(id)].label);
  }
  const Names expected{"Rank 0",   "Phases",           "Operators",
                       "Launches", "Compute stream 7", "All-reduce · world",
                       "Copies",   "Buckets ready",    "Memory allocated",
                       "GPU clock"};
  EXPECT_EQ(labels, expected);
  EXPECT_EQ(rows->steps.size(), 6u);
  EXPECT_EQ(rows->events, 2 * 3 * 10);
  EXPECT_EQ(rows->start_ns, KnownRun::at(0, 0));
  EXPECT_EQ(rows->end_ns, KnownRun::at(3, 0));
}

TEST_F(OpenRun, KernelsOfTheOptimizerAreItsOwnClass) {
  Names names;
  const timeline::RowPicture picture = step_of("Compute stream 7", 1, &names);
  ASSERT_EQ(picture.pieces.size(), 3u);
  EXPECT_TRUE(picture.is_exact);
  EXPECT_TRUE(picture.is_complete);
  expect_piece(picture.pieces[0], 5'000, 25'000, base::TimeClass::kCompute);
  expect_piece(picture.pieces[2], 85'000, 95'000, base::TimeClass::kOptimizer);
  EXPECT_EQ(names[picture.pieces[0].name], "sm90_gemm");
  EXPECT_EQ(names[picture.pieces[2].name], "multi_tensor_adam");
}

TEST_F(OpenRun, CollectivesAreCutWhereComputeEndsAndKnowWhoCameLast) {
  Names names;
  const timeline::RowPicture picture = step_of("All-reduce · world", 1, &names);
  ASSERT_EQ(picture.pieces.size(), 2u);
  expect_piece(picture.pieces[0], 60'000, 70'000, base::TimeClass::kOverlapped);
  expect_piece(picture.pieces[1], 70'000, 78'000, base::TimeClass::kExposed);
  EXPECT_EQ(picture.pieces[0].latest_start_ns, KnownRun::at(1, 64'000));
  EXPECT_EQ(names[picture.pieces[0].name], "bucket 0");
}

TEST_F(OpenRun, FromAfarACollectiveIsWhatMostOfItWas) {
  for (const int rank : {0, 1}) {
    const timeline::RowPicture picture = picture_of(*explorer_, row("All-reduce · world", rank),
                                                    KnownRun::at(0, 0), KnownRun::at(3, 0), 30);
    ASSERT_EQ(picture.pieces.size(), 3u);
    for (const timeline::Piece& piece : picture.pieces) {
      EXPECT_EQ(piece.piece_class,
                rank == 0 ? base::TimeClass::kOverlapped : base::TimeClass::kExposed);
      EXPECT_TRUE(piece.ref.exists());
    }
  }
}

TEST_F(OpenRun, CollectivesSayWhatIsKnownOfThem) {
  const timeline::RowPicture picture = step_of("All-reduce · world");
  ASSERT_EQ(picture.collectives.size(), 1u);
  const timeline::DrawnCollective& call = picture.collectives[0];
  EXPECT_EQ(call.tag_kind, model::TagKind::kBucket);
  EXPECT_EQ(call.tag_index, 0);
  EXPECT_EQ(call.start_ns, KnownRun::at(1, 60'000));
  EXPECT_EQ(call.wait.wait_ns, 4'000'000);
  EXPECT_EQ(call.wait.transfer_ns, 14'000'000);
  EXPECT_EQ(call.overlapped_ns, 10'000'000);
  EXPECT_EQ(call.exposed_ns, 8'000'000);
  for (const timeline::Piece& piece : picture.pieces)
    EXPECT_EQ(piece.collective, 0) << "both parts";
}

TEST_F(OpenRun, WhatReducesABucketLiesUnderItsMark) {
  const timeline::RowPicture picture = step_of("Buckets ready");
  ASSERT_EQ(picture.pieces.size(), 1u);
  EXPECT_EQ(picture.pieces[0].start_ns, KnownRun::at(1, 60'000));
  EXPECT_EQ(picture.pieces[0].end_ns, KnownRun::at(1, 78'000));
  ASSERT_EQ(picture.ready.size(), 1u);
  EXPECT_EQ(picture.ready[0].kind, model::TagKind::kBucket);
  EXPECT_EQ(picture.ready[0].index, picture.collectives.at(0).tag_index);
  EXPECT_LE(picture.ready[0].time_ns, picture.pieces[0].start_ns);
}

TEST_F(OpenRun, FromAfarWhatReducesABucketLiesThere) {
  const timeline::RowPicture picture =
      picture_of(*explorer_, row("Buckets ready"), KnownRun::at(0, 0), KnownRun::at(3, 0), 30);
  EXPECT_EQ(picture.pieces.size(), 3u);
  EXPECT_EQ(picture.collectives.size(), 3u);
}

TEST_F(OpenRun, RibbonsSayWhereTheTimeWent) {
  const timeline::RowPicture picture = step_of("Rank 0");
  const std::vector<std::pair<std::int64_t, base::TimeClass>> expected{
      {500, base::TimeClass::kIdle},          {600, base::TimeClass::kCopy},
      {5'000, base::TimeClass::kIdle},        {25'000, base::TimeClass::kCompute},
      {50'000, base::TimeClass::kIdle},       {60'000, base::TimeClass::kCompute},
      {70'000, base::TimeClass::kOverlapped}, {78'000, base::TimeClass::kExposed},
      {85'000, base::TimeClass::kIdle},       {95'000, base::TimeClass::kOptimizer},
      {100'000, base::TimeClass::kIdle}};
  ASSERT_EQ(picture.pieces.size(), expected.size());
  std::int64_t from = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_piece(picture.pieces[i], from, expected[i].first, expected[i].second);
    from = expected[i].first;
  }
}

TEST_F(OpenRun, TheMeanRibbonIsHalfOfEachRank) {
  const timeline::RowPicture picture =
      picture_of(*explorer_, 0, KnownRun::at(1, 60'000), KnownRun::at(1, 64'000), 4);
  ASSERT_FALSE(picture.columns.empty());
  for (const timeline::RibbonColumn& column : picture.columns) {
    EXPECT_NEAR(column.share[base::index_of(base::TimeClass::kOverlapped)], 0.5, 0.01);
    EXPECT_NEAR(column.share[base::index_of(base::TimeClass::kCompute)], 0.5, 0.01);
  }
}

TEST_F(OpenRun, OperatorsAreNestedPhasesClassedSamplesJoined) {
  const timeline::RowPicture operators = step_of("Operators");
  ASSERT_EQ(operators.pieces.size(), 2u);
  EXPECT_EQ(operators.pieces[0].level, 0);
  EXPECT_EQ(operators.pieces[1].level, 1);
  const timeline::RowPicture phases = step_of("Phases");
  ASSERT_GE(phases.pieces.size(), 3u);
  const auto optimizer =
      std::ranges::find(phases.pieces, KnownRun::at(1, 80'000), &timeline::Piece::start_ns);
  ASSERT_NE(optimizer, phases.pieces.end());
  EXPECT_EQ(optimizer->piece_class, base::TimeClass::kOptimizerPhase);
  Names names;
  const timeline::RowPicture ready = step_of("Buckets ready", 1, &names);
  ASSERT_EQ(ready.ready.size(), 1u);
  EXPECT_EQ(names[ready.ready[0].name], "bucket 0");
  EXPECT_EQ(ready.ready[0].bytes, 4'000'000);
  const timeline::RowPicture memory = step_of("Memory allocated");
  ASSERT_EQ(memory.area.size(), 2u);
  EXPECT_DOUBLE_EQ(memory.area[0].value, 1 << 20) << "from the step before";
  EXPECT_DOUBLE_EQ(memory.area[1].value, 2 << 20);
  EXPECT_DOUBLE_EQ(memory.area_highest, 3 << 20);
}

TEST_F(OpenRun, RowsKeepTheirNumbersWhileTheRunIsRead) {
  auto fresh = explore::RunExplorer::open(run_.path());
  ASSERT_TRUE(fresh);
  const auto before = (*fresh)->rows();
  while ((*fresh)->work().value_or(false)) {
  }
  const auto after = (*fresh)->rows();
  ASSERT_GE(after->rows.size(), before->rows.size());
  for (std::size_t i = 0; i < before->rows.size(); ++i) {
    EXPECT_EQ(before->rows[i].kind, after->rows[i].kind);
    EXPECT_EQ(before->rows[i].lane, after->rows[i].lane);
  }
  EXPECT_DOUBLE_EQ((*fresh)->progress(), 1);
}

TEST_F(OpenRun, ARequestThatNobodyWantsIsGivenUp) {
  timeline::PictureRequest request{{{0, KnownRun::at(0, 0), KnownRun::at(3, 0)}}, 1'000'000};
  const auto picture = explorer_->picture(request, [] { return false; });
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().kind, base::ErrorKind::kFailed);
}

TEST_F(OpenRun, NonsenseInARequestGivesEmptyRows) {
  const std::vector<timeline::RowWindow> windows{{-5, 0, 10},
                                                 {1'000, 0, 10},
                                                 {0, 10, 0},
                                                 {1, INT64_MIN, INT64_MAX},
                                                 {2, INT64_MAX, INT64_MIN}};
  for (const double zoom : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    const auto picture = explorer_->picture({windows, zoom});
    ASSERT_TRUE(picture) << picture.error().message;
    EXPECT_EQ(picture->rows.size(), windows.size());
    EXPECT_TRUE(picture->rows[0].pieces.empty());
  }
}

TEST_F(OpenRun, ARunThatIsNotThereIsToldAndNothingElse) {
  const auto missing = explore::RunExplorer::open("/nowhere/at/all");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST_F(OpenRun, StatisticsComeWithTheStragglersOfTheRange) {
  const auto figures = explorer_->statistics({KnownRun::at(1, 0), KnownRun::at(2, 0), {}});
  ASSERT_TRUE(figures);
  ASSERT_TRUE(figures->stragglers);
  ASSERT_EQ(figures->stragglers->calls.size(), 1u);
  EXPECT_EQ(figures->stragglers->calls[0].last_rank, 1);
  EXPECT_EQ(figures->stragglers->calls[0].wait_ns, 4'000'000);
}

TEST_F(OpenRun, StatisticsOfRanksThatAreShownAlignedAreOfWhatIsCovered) {
  const auto count_in = [&](const timeline::TimeRange& range, timeline::StatisticsTable wanted) {
    const auto figures = explorer_->statistics(range);
    EXPECT_TRUE(figures);
    const auto table = std::ranges::find(figures->tables, wanted, &timeline::RangeTable::table);
    return std::pair(table->count, figures->stragglers->calls.size());
  };
  using enum timeline::StatisticsTable;
  timeline::TimeRange range{KnownRun::at(1, 0), KnownRun::at(1, 30'000), {}};
  EXPECT_EQ(count_in(range, kKernels).first, 2);
  EXPECT_EQ(count_in(range, kCollectives), std::pair(std::int64_t{0}, std::size_t{0}));
  range.shifts = {{1, 45'000'000}};
  EXPECT_EQ(count_in(range, kKernels).first, 3) << "rank 1's from 50 and 64 ms on";
  EXPECT_EQ(count_in(range, kCollectives), std::pair(std::int64_t{1}, std::size_t{1}));
}

TEST_F(OpenRun, SearchNamesTheRowOfItsHits) {
  timeline::NamePattern pattern{"adam", false, true};
  const auto hit = explorer_->neighbour_hit(pattern, 1, KnownRun::at(1, 0));
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->start_ns, KnownRun::at(1, 85'000));
  const timeline::TimelineRow& row = explorer_->rows()->rows[static_cast<std::size_t>(hit->row)];
  EXPECT_EQ(row.label, "Compute stream 7");
  const auto bucket = explorer_->neighbour_hit({"bucket 0", true, false}, -1, KnownRun::at(1, 0));
  ASSERT_TRUE(bucket);
  EXPECT_EQ(explorer_->rows()->rows[static_cast<std::size_t>(bucket->row)].kind,
            timeline::RowKind::kCommunication);
}

TEST(ExploredRun, ASearchSaysThatThereMayBeMoreWhileRowsAreBeingRead) {
  const KnownRun run(60);  // more rows than are read at once
  const auto explorer = *explore::RunExplorer::open(run.path());
  const auto first = explorer->find({"bucket 0", true, false});
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->is_complete);
  EXPECT_LT(first->count, 120);
  while (explorer->work().value_or(false)) {
  }
  const auto all = explorer->find({"bucket 0", true, false});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->is_complete);
  EXPECT_EQ(all->count, 120);
}

// All rows over the whole run from afar.
timeline::TimelinePicture far_picture(explore::RunExplorer& explorer) {
  const auto rows = explorer.rows();
  timeline::PictureRequest request;
  for (const timeline::TimelineRow& row : rows->rows) {
    request.windows.push_back({row.id, KnownRun::at(0, 0), KnownRun::at(3, 0)});
  }
  request.ns_per_pixel = 5e6;
  auto picture = explorer.picture(request);
  EXPECT_TRUE(picture) << picture.error().message;
  return picture ? std::move(*picture) : timeline::TimelinePicture{};
}

TEST(ExploredRun, SaysWhatIsNotThereYetAndShowsItOnceItIs) {
  KnownRun run;
  const timeline::TimelinePicture expected = far_picture(*open_whole(run.path()));
  auto explorer = explore::RunExplorer::open(run.path());
  ASSERT_TRUE(explorer) << explorer.error().message;
  EXPECT_GT((*explorer)->rows()->end_ns, (*explorer)->rows()->start_ns);
  const auto rows = (*explorer)->rows();
  const timeline::TimelinePicture first = far_picture(**explorer);
  for (std::size_t i = 0; i < first.rows.size(); ++i) {
    const timeline::RowKind kind = rows->rows[i].kind;
    const bool is_of_events =
        kind == timeline::RowKind::kRibbon || kind == timeline::RowKind::kKernels ||
        kind == timeline::RowKind::kOperators || kind == timeline::RowKind::kLaunches;
    EXPECT_FALSE(is_of_events && first.rows[i].is_complete) << rows->rows[i].label;
  }
  while ((*explorer)->work().value_or(false)) {
  }
  const timeline::TimelinePicture filled = far_picture(**explorer);
  ASSERT_EQ(filled.rows.size(), expected.rows.size());
  for (std::size_t i = 0; i < filled.rows.size(); ++i) {
    EXPECT_TRUE(filled.rows[i].is_complete) << i;
    EXPECT_EQ(filled.rows[i].pieces.size(), expected.rows[i].pieces.size()) << i;
    EXPECT_EQ(filled.rows[i].columns.size(), expected.rows[i].columns.size()) << i;
  }
}

TEST_F(OpenRun, PicturesAreMadeWhileOthersRead) {
  auto fresh = explore::RunExplorer::open(run_.path());
  ASSERT_TRUE(fresh);
  explore::RunExplorer& explorer = **fresh;
  std::jthread reader([&] {
    for (int i = 0; i < 20; ++i) {
      while (explorer.work().value_or(false)) {
      }
      EXPECT_TRUE(explorer.refresh());
    }
  });
  for (int i = 0; i < 100; ++i) {
    const auto rows = explorer.rows();
    timeline::PictureRequest request;
    for (const timeline::TimelineRow& row : rows->rows) {
      request.windows.push_back({row.id, KnownRun::at(0, 0), KnownRun::at(3, 0)});
    }
    request.ns_per_pixel = i % 2 == 0 ? 1e5 : 1e7;
    EXPECT_TRUE(explorer.picture(request));
  }
}

}  // namespace
}  // namespace shardlens::trace::test
