#include "ui/inspect/timeline/timeline_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ui/inspect/testing/sample_run.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::RowKind;

class RowLayoutTest : public ::testing::Test {
 protected:
  RowLayout lay_out(float available = 600, float scale = 1) const {
    return layout_rows(rows_, folds_, filter_, available, scale);
  }
  bool is_unfolded(const RowLayout& layout, int place) const {
    for (const ShownRow& row : layout.rows) {
      if (row.heading == ShownRow::Heading::kRank && row.place == place) return row.unfolded;
    }
    ADD_FAILURE() << "no rank " << place;
    return false;
  }
  int row_of(int rank, RowKind kind) const {
    const auto found = std::find_if(rows_.rows.begin(), rows_.rows.end(), [&](const auto& row) {
      return row.rank == rank && row.kind == kind;
    });
    return found->id;
  }

  trace::timeline::TimelineRows rows_ = SampleRun({.steps = 3}).rows();
  RowFolds folds_;
  RowFilter filter_;
};

TEST_F(RowLayoutTest, NeverOverlapsRowsAndCountsTheirHeight) {
  for (const float available : {100.0f, 400.0f, 900.0f, 4'000.0f}) {
    for (const float scale : {0.75f, 1.0f, 2.5f}) {
      const RowLayout layout = lay_out(available, scale);
      for (std::size_t i = 1; i < layout.rows.size(); ++i) {
        EXPECT_GE(layout.rows[i].y, layout.rows[i - 1].y + layout.rows[i - 1].height + 2 * scale);
      }
      EXPECT_GE(layout.height, layout.rows.back().y + layout.rows.back().height);
    }
  }
}

TEST_F(RowLayoutTest, UnfoldsAsManyRanksAsFitAndAtLeastTheFirst) {
  EXPECT_TRUE(is_unfolded(lay_out(100), 0));
  EXPECT_FALSE(is_unfolded(lay_out(100), 1));
  const RowLayout some = lay_out(700);
  EXPECT_TRUE(is_unfolded(some, 1));
  EXPECT_FALSE(is_unfolded(some, 7));
  EXPECT_LE(some.height, 700);
  EXPECT_TRUE(is_unfolded(lay_out(4'000), 7));
}

TEST_F(RowLayoutTest, FillsTheRoomThatIsLeftBelow) {
  folds_.ranks = {{0, false}, {1, true}};
  for (int rank = 2; rank < 8; ++rank) folds_.ranks[rank] = false;
  const RowLayout tight = lay_out(10), roomy = lay_out(380);
  EXPECT_GT(roomy.height, tight.height);
  EXPECT_LE(roomy.height, 380);
}

TEST_F(RowLayoutTest, ObeysWishes) {
  folds_.ranks = {{0, false}, {5, true}};
  const RowLayout layout = lay_out(300);
  EXPECT_FALSE(is_unfolded(layout, 0));
  EXPECT_TRUE(is_unfolded(layout, 5));
  EXPECT_NE(layout.find(row_of(5, RowKind::kKernels)), nullptr);
  EXPECT_EQ(layout.find(row_of(0, RowKind::kKernels)), nullptr);
  EXPECT_NE(layout.find(row_of(0, RowKind::kRibbon)), nullptr);
}

TEST_F(RowLayoutTest, FoldsTheRunToItsMean) {
  folds_.run = true;
  const RowLayout layout = lay_out();
  ASSERT_EQ(layout.rows.size(), 1u);
  EXPECT_EQ(layout.rows[0].row, 0);
}

TEST_F(RowLayoutTest, HidesKindsThatAreNotWanted) {
  EXPECT_EQ(lay_out().find(row_of(0, RowKind::kLaunches)), nullptr);
  filter_.set(RowKind::kLaunches, true);
  filter_.set(RowKind::kKernels, false);
  const RowLayout layout = lay_out();
  EXPECT_NE(layout.find(row_of(0, RowKind::kLaunches)), nullptr);
  EXPECT_EQ(layout.find(row_of(0, RowKind::kKernels)), nullptr);
  for (int kind = 0; kind <= static_cast<int>(RowKind::kGpu); ++kind) {
    filter_.set(static_cast<RowKind>(kind), false);
  }
  for (const ShownRow& row : lay_out().rows) EXPECT_FALSE(row.heading == ShownRow::Heading::kNone);
}

TEST_F(RowLayoutTest, ShowsHowTheGpuIsDoingUnlessTheOtherRanksWouldGo) {
  const int rank = 0;
  for (const char* label : {"GPU utilization", "GPU power", "SM clock"}) {
    trace::timeline::TimelineRow row;
    row.id = static_cast<int>(rows_.rows.size());
    row.rank = rank;
    row.kind = RowKind::kGpu;
    row.label = label;
    rows_.rows.push_back(row);
    rows_.ranks[0].rows.push_back(row.id);
  }
  const int last = rows_.rows.back().id, first = last - 2;
  EXPECT_NE(lay_out(2'000).find(last), nullptr);
  const RowLayout tight = lay_out(200);
  ASSERT_NE(tight.find(first), nullptr);
  EXPECT_EQ(tight.find(first)->lanes, 3);
  EXPECT_FALSE(tight.find(first)->shows_lanes);
  EXPECT_EQ(tight.find(last), nullptr);
  folds_.lanes.insert({rank, RowKind::kGpu});
  EXPECT_NE(lay_out(200).find(last), nullptr) << "as the user wishes";
}

TEST_F(RowLayoutTest, FoldsNestedLevelsUntilAllAreAskedFor) {
  const int operators = row_of(0, RowKind::kOperators);
  const RowLayout compact = lay_out(200);
  EXPECT_EQ(compact.find(operators)->levels, 2);
  EXPECT_TRUE(compact.find(operators)->offers_levels);
  folds_.levels.insert(operators);
  const RowLayout all = lay_out(200);
  EXPECT_EQ(all.find(operators)->levels, 4);
  EXPECT_TRUE(all.find(operators)->shows_all_levels);
  EXPECT_FALSE(all.find(row_of(0, RowKind::kKernels))->offers_levels);
}

TEST_F(RowLayoutTest, ShowsAllLevelsByItselfWhereThereIsRoom) {
  rows_ = SampleRun({.ranks = 1, .steps = 2}).rows();
  const int operators = row_of(0, RowKind::kOperators);
  EXPECT_EQ(lay_out(900).find(operators)->levels, 4);
  EXPECT_EQ(lay_out(150).find(operators)->levels, 2);
  folds_.levels.insert(operators);  // the other way round
  EXPECT_EQ(lay_out(900).find(operators)->levels, 2);
}

TEST_F(RowLayoutTest, FoldsManyStreamsToTheFirst) {
  rows_ = SampleRun({.ranks = 1, .steps = 2, .extra_streams = 9}).rows();
  const RowLayout folded = lay_out();
  const auto count = [](const RowLayout& layout, const trace::timeline::TimelineRows& rows) {
    return std::count_if(layout.rows.begin(), layout.rows.end(), [&](const ShownRow& row) {
      return row.row >= 0 && rows.rows[static_cast<std::size_t>(row.row)].kind == RowKind::kKernels;
    });
  };
  EXPECT_EQ(count(folded, rows_), 1);
  EXPECT_EQ(folded.find(row_of(0, RowKind::kKernels))->lanes, 10);
  folds_.lanes.insert({0, RowKind::kKernels});
  EXPECT_EQ(count(lay_out(), rows_), 10);
  // Two streams of a kind are unfolded by themselves, and fold when asked.
  EXPECT_TRUE(folded.find(row_of(0, RowKind::kCommunication))->shows_lanes);
  folds_.lanes.insert({0, RowKind::kCommunication});
  EXPECT_FALSE(lay_out().find(row_of(0, RowKind::kCommunication))->shows_lanes);
}

TEST_F(RowLayoutTest, HasNoHeadingOfAllRanksForOne) {
  rows_ = SampleRun({.ranks = 1, .steps = 2}).rows();
  EXPECT_EQ(lay_out().rows.front().heading, ShownRow::Heading::kRank);
}

TEST_F(RowLayoutTest, SurvivesRowsThatDoNotExist) {
  rows_.ranks[0].rows = {99'999, -3};
  rows_.ranks[1].rows.clear();
  const RowLayout layout = lay_out();
  EXPECT_FALSE(is_unfolded(layout, 0));
  EXPECT_FALSE(is_unfolded(layout, 1));
}

TEST_F(RowLayoutTest, OfManyRanksShowsTheExtremesFirstAndFoldsTheRest) {
  rows_ = SampleRun({.ranks = 256, .steps = 2}).rows();
  folds_.extremes = {200, 3};
  const auto headings = [](const RowLayout& layout) {
    std::vector<int> places;
    for (const ShownRow& row : layout.rows) {
      if (row.heading == ShownRow::Heading::kRank) places.push_back(row.place);
    }
    return places;
  };
  const RowLayout layout = lay_out(600);
  const auto shown = headings(layout);
  ASSERT_EQ(shown.size(), kRanksOfMany);
  EXPECT_EQ(shown[0], 200);
  EXPECT_EQ(shown[1], 3);
  EXPECT_EQ(shown[2], 0);
  EXPECT_EQ(layout.rows.back().heading, ShownRow::Heading::kRest);
  EXPECT_EQ(layout.rows.back().ranks, 256 - static_cast<int>(kRanksOfMany));
  folds_.ranks[77] = true;  // gone to by a table or a link
  EXPECT_EQ(headings(lay_out(600)).back(), 77);
  folds_.shows_rest = true;
  EXPECT_EQ(headings(lay_out(600)).size(), 256u);
}

}  // namespace

}  // namespace shardlens::ui::inspect
