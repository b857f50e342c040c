#include "trace/timeline/pieces/cell_pieces.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/trace/timeline/random_events.h"

namespace shardlens::trace::timeline {
namespace {

// Sums of all events by cell, done the slow way.
std::vector<SummaryCell> cells_of(const std::vector<DrawnEvent>& events, std::int64_t cell_ns) {
  std::map<std::int64_t, SummaryCell> cells;
  const auto cell_at = [&](std::int64_t time_ns) -> SummaryCell& {
    const std::int64_t start = time_ns / cell_ns * cell_ns;
    SummaryCell& cell = cells[start];
    cell.start_ns = start;
    cell.end_ns = start + cell_ns;
    return cell;
  };
  for (const DrawnEvent& event : events) {
    ++cell_at(event.time.start_ns).count;
    for (std::int64_t from = event.time.start_ns; from < event.time.end_ns;) {
      SummaryCell& cell = cell_at(from);
      const std::int64_t to = std::min(event.time.end_ns, cell.end_ns);
      cell.busy_ns += to - from;
      if (event.time.length() > cell.longest_ns) {
        cell.longest_ns = event.time.length();
        cell.name = event.name;
      }
      from = to;
    }
  }
  std::vector<SummaryCell> result;
  for (auto& [start, cell] : cells) {
    cell.busiest =
        static_cast<float>(static_cast<double>(cell.busy_ns) / static_cast<double>(cell_ns));
    result.push_back(cell);
  }
  return result;
}

TEST(CellPieces, ColumnsAreWholeCellsAndAtMostAPixel) {
  EXPECT_EQ(grid_of_cells(1'000, 3'999).column_ns(), 3'000);
  EXPECT_EQ(grid_of_cells(1'000, 1'000).column_ns(), 1'000);
  EXPECT_EQ(grid_of_cells(1'000, 10).column_ns(), 1'000);
  EXPECT_GT(grid_of_cells(std::int64_t{1} << 48, 1e18).column_ns(), 0)
      << "no more than a number holds";
}

TEST(CellPieces, CoverAsMuchOfEachColumnAsTheEvents) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 100; ++round) {
    const auto events = random_events(random, 500, 3'000, false);
    constexpr std::int64_t kCell = 1'024;
    const auto cells = cells_of(events, kCell);
    const PixelGrid grid = grid_of_cells(
        kCell, static_cast<double>(kCell) * (1 + static_cast<double>(random() % 30) / 10));
    const auto pieces = pieces_from_cells(cells, grid, 0, base::TimeClass::kCompute);
    const std::int64_t start = grid.start_of(grid.column_at(events.front().time.start_ns));
    const Painting naive = paint_events(events, start, grid.column_ns(), 300);
    const Painting drawn = paint_pieces(pieces, start, grid.column_ns(), 300);
    std::int64_t count = 0;
    for (const Piece& piece : pieces) count += piece.count;
    EXPECT_EQ(count, 500);
    for (std::size_t i = 0; i < 300; ++i) {
      // Zero lengths are painted as a nanosecond by the naive way.
      ASSERT_NEAR(naive.covered[i], drawn.covered[i], 0.02) << "column " << i;
    }
  }
}

TEST(CellPieces, NameTheLongestEventAndKeepTheBusiestPart) {
  std::vector<SummaryCell> cells(3);
  for (std::size_t i = 0; i < 3; ++i) {
    cells[i].start_ns = static_cast<std::int64_t>(i) * 10;
    cells[i].end_ns = cells[i].start_ns + 10;
    cells[i].busy_ns = static_cast<std::int64_t>(i) * 4;
    cells[i].busiest = i == 1 ? 0.9F : 0.1F;
    cells[i].count = 1;
    cells[i].longest_ns = i == 0 ? 50 : 7;
    cells[i].name = static_cast<std::uint32_t>(i + 1);
  }
  const auto pieces = pieces_from_cells(cells, PixelGrid(30), 2, base::TimeClass::kHost);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].name, 1u);
  EXPECT_EQ(pieces[0].longest_ns, 50);
  EXPECT_FLOAT_EQ(pieces[0].busiest, 0.9F);
  EXPECT_FLOAT_EQ(pieces[0].busy, 12.0F / 30);
  EXPECT_EQ(pieces[0].level, 2);
  EXPECT_EQ(pieces[0].count, 3u);
}

}  // namespace
}  // namespace shardlens::trace::timeline
