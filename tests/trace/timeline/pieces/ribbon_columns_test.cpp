#include "trace/timeline/pieces/ribbon_columns.h"

#include <gtest/gtest.h>

#include <random>
#include <ranges>
#include <utility>
#include <vector>

#include "trace/analysis/steps/ribbon.h"

namespace shardlens::trace::timeline {
namespace {

std::vector<base::Interval> random_intervals(std::mt19937_64& random, int count) {
  std::vector<base::Interval> result;
  for (int i = 0; i < count; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 10'000);
    result.push_back({start, start + static_cast<std::int64_t>(random() % 300)});
  }
  return base::normalize(std::move(result));
}

struct RibbonInput {
  base::Interval step;
  base::Intervals compute, communication, copies, optimizer;
};

base::ActivitySets sets_of(const RibbonInput& input) {
  return {input.compute, input.communication, input.copies, input.optimizer};
}

bool holds(const base::Intervals& set, std::int64_t time) {
  for (const base::Interval& one : set) {
    if (one.start_ns <= time && time < one.end_ns) return true;
  }
  return false;
}

// The class of one nanosecond, from the definitions.
base::TimeClass class_at(const RibbonInput& input, std::int64_t time) {
  if (holds(input.communication, time)) {
    return holds(input.compute, time) ? base::TimeClass::kOverlapped : base::TimeClass::kExposed;
  }
  if (holds(input.compute, time)) {
    return holds(input.optimizer, time) ? base::TimeClass::kOptimizer : base::TimeClass::kCompute;
  }
  return holds(input.copies, time) ? base::TimeClass::kCopy : base::TimeClass::kIdle;
}

TEST(RibbonColumns, ShareOfEveryColumnIsThatOfItsNanoseconds) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 5; ++round) {
    const RibbonInput input{{700, 9'300},
                            random_intervals(random, 40),
                            random_intervals(random, 20),
                            random_intervals(random, 20),
                            {{5'000, 6'000}}};
    const PixelGrid grid(static_cast<double>(1 + random() % 500));
    const auto columns = exact_ribbon(sets_of(input), input.step, {input.step}, grid).columns;
    for (const RibbonColumn& column : columns) {
      std::array<double, base::kPartitionClasses> share{};
      for (std::int64_t time = std::max<std::int64_t>(column.start_ns, 700);
           time < std::min<std::int64_t>(column.end_ns, 9'300); ++time) {
        share[static_cast<std::size_t>(class_at(input, time))] +=
            1 / static_cast<double>(grid.column_ns());
      }
      for (std::size_t i = 0; i < share.size(); ++i) EXPECT_NEAR(column.share[i], share[i], 1e-4);
    }
    ASSERT_FALSE(columns.empty());
    EXPECT_EQ(columns.front().start_ns, grid.start_of(grid.column_at(700)));
    EXPECT_EQ(columns.back().end_ns, grid.start_of(grid.column_at(9'299) + 1));
  }
}

TEST(RibbonColumns, PiecesAreTheExactPartitionWhereTheyCanBeToldApart) {
  std::mt19937_64 random(8);
  const RibbonInput input{{700, 9'300},
                          random_intervals(random, 40),
                          random_intervals(random, 20),
                          random_intervals(random, 20),
                          {{2'000, 2'500}, {5'000, 6'000}}};
  const auto exact = analysis::exact_partition(sets_of(input), input.step);
  const auto pieces = exact_ribbon(sets_of(input), input.step, {input.step}, PixelGrid(1)).pieces;
  ASSERT_EQ(pieces.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(pieces[i].start_ns, exact[i].time.start_ns);
    EXPECT_EQ(pieces[i].end_ns, exact[i].time.end_ns);
    EXPECT_EQ(pieces[i].piece_class, exact[i].bar_class);
  }
  EXPECT_TRUE(
      exact_ribbon(sets_of(input), input.step, {input.step}, PixelGrid(2'000)).pieces.empty());
}

TEST(RibbonColumns, OfCellsAreTheSameAsOfThePiecesTheyWereSummedFrom) {
  std::mt19937_64 random(6);
  const RibbonInput input{{0, 9'984},
                          random_intervals(random, 40),
                          random_intervals(random, 20),
                          random_intervals(random, 20),
                          {{5'000, 6'000}}};
  std::vector<ClassCell> cells;
  for (const RibbonColumn& fine :
       exact_ribbon(sets_of(input), input.step, {input.step}, PixelGrid(64)).columns) {
    ClassCell cell{fine.start_ns, fine.end_ns, {}};
    for (std::size_t i = 0; i < cell.ns.size(); ++i) {
      cell.ns[i] = std::llround(static_cast<double>(fine.share[i]) * 64);
    }
    cells.push_back(cell);
  }
  const PixelGrid grid(192);
  const auto from_cells = ribbon_columns(std::span<const ClassCell>(cells), grid);
  const auto from_pieces = exact_ribbon(sets_of(input), input.step, {input.step}, grid).columns;
  ASSERT_EQ(from_cells.size(), from_pieces.size());
  for (std::size_t i = 0; i < from_cells.size(); ++i) {
    for (std::size_t c = 0; c < base::kPartitionClasses; ++c) {
      EXPECT_NEAR(from_cells[i].share[c], from_pieces[i].share[c], 1e-4);
    }
  }
}

RowPicture of_columns(std::vector<RibbonColumn> columns) {
  RowPicture ribbon;
  ribbon.columns = std::move(columns);
  return ribbon;
}

TEST(RibbonColumns, TheMeanOverRanksKeepsTheTimeOfEach) {
  const RibbonColumn busy{0, 10, {1, 0, 0, 0, 0, 0}}, idle{0, 10, {0, 0, 0, 0, 0, 1}};
  const RibbonColumn later{10, 20, {0, 0, 0, 1, 0, 0}};
  const std::vector<std::vector<RibbonColumn>> ranks{{busy, later}, {idle}, {busy}, {busy}};
  MeanRibbon sums, backwards;
  for (const auto& rank : ranks) sums.add(of_columns(rank));
  for (const auto& rank : std::views::reverse(ranks)) backwards.add(of_columns(rank));
  const auto mean = sums.picture().columns, same = backwards.picture().columns;
  ASSERT_EQ(mean.size(), 2u);
  EXPECT_FLOAT_EQ(mean[0].share[0], 0.75F);
  EXPECT_FLOAT_EQ(mean[0].share[5], 0.25F);
  EXPECT_FLOAT_EQ(mean[1].share[3], 0.25F);
  ASSERT_EQ(same.size(), 2u);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_EQ(mean[i].start_ns, same[i].start_ns);
    EXPECT_EQ(mean[i].share, same[i].share) << "whichever thread comes first";
  }
}

TEST(RibbonColumns, TheMeanTakesInWhatLiesBetweenTheColumnsThatItHas) {
  const auto at = [](std::int64_t start) {
    return RibbonColumn{start, start + 10, {1, 0, 0, 0, 0, 0}};
  };
  MeanRibbon sums;
  sums.add(of_columns({at(10), at(50)}));
  sums.add(of_columns({at(0), at(10), at(30), at(60)}));
  std::vector<std::pair<std::int64_t, float>> found;
  for (const auto& column : sums.picture().columns)
    found.emplace_back(column.start_ns, column.share[0]);
  const std::vector<std::pair<std::int64_t, float>> expected{
      {0, 0.5F}, {10, 1}, {30, 0.5F}, {50, 0.5F}, {60, 0.5F}};
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(MeanRibbon().picture().columns.empty());
}

TEST(RibbonColumns, TheMeanIsAsCompleteAsTheLeastOfItsRanks) {
  MeanRibbon sums;
  RowPicture rank;
  rank.is_exact = true;
  sums.add(rank);
  EXPECT_TRUE(sums.picture().is_exact && sums.picture().is_complete);
  rank.is_complete = false;
  sums.add(rank);
  EXPECT_TRUE(sums.picture().is_exact);
  sums.add(RowPicture());
  EXPECT_FALSE(sums.picture().is_exact || sums.picture().is_complete);
}

TEST(RibbonColumns, NeighboursThatLookTheSameBecomeOne) {
  std::vector<RibbonColumn> columns{{0, 10, {1, 0, 0, 0, 0, 0}},
                                    {10, 20, {0.999F, 0, 0, 0, 0, 0.001F}},
                                    {20, 30, {0.5F, 0, 0, 0, 0, 0.5F}},
                                    {40, 50, {0.5F, 0, 0, 0, 0, 0.5F}}};
  join_columns(columns);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].end_ns, 20);
  EXPECT_EQ(columns[2].start_ns, 40) << "a gap stays one";
}

}  // namespace
}  // namespace shardlens::trace::timeline
