#include "trace/timeline/pieces/piece_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trace/timeline/random_events.h"

namespace shardlens::trace::timeline {
namespace {

constexpr int kPixels = 200;

DrawnEvent event_at(std::int64_t start_ns, std::int64_t end_ns, std::uint32_t name = 1) {
  DrawnEvent event;
  event.time = drawn_time(start_ns, end_ns);
  event.name = name;
  event.ref = {EventTableKind::kKernel, 0, 1, name};
  return event;
}

// The same pixels are touched; and from the left up to any pixel as much is covered, within
// `most_columns`: a fold spreads what it holds over its own extent.
void expect_same_painting(const std::vector<DrawnEvent>& events, const std::vector<Piece>& pieces,
                          std::int64_t start_ns, std::int64_t pixel_ns, double most_columns,
                          bool compare_coverage) {
  const Painting naive = paint_events(events, start_ns, pixel_ns, kPixels);
  const Painting folded = paint_pieces(pieces, start_ns, pixel_ns, kPixels);
  double difference = 0;
  for (std::size_t i = 0; i < kPixels; ++i) {
    ASSERT_EQ(naive.touched[i], folded.touched[i]) << "pixel " << i << " of " << pixel_ns << " ns";
    difference += folded.covered[i] - naive.covered[i];
    if (!compare_coverage) continue;
    ASSERT_LE(std::abs(difference), most_columns) << "pixel " << i;
  }
}

TEST(PieceFolder, PaintsTheSamePixelsAsAllEventsAtAnyZoomAndOffset) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const bool overlap = round % 3 == 0;
    const auto events = random_events(random, 400, 5'000, overlap);
    const std::int64_t all = events.back().time.end_ns - events.front().time.start_ns;
    const std::int64_t pixel_ns = 1 + static_cast<std::int64_t>(random() % 40'000 >> random() % 16);
    const std::int64_t start_ns =
        events.front().time.start_ns - 50 +
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all));
    const PixelGrid grid(static_cast<double>(pixel_ns));
    const base::Interval window{start_ns, start_ns + kPixels * pixel_ns};
    auto pieces = fold_all(events, grid, window);
    expect_same_painting(events, pieces, start_ns, pixel_ns, 2, !overlap);
    join_pieces(pieces, grid);
    expect_same_painting(events, pieces, start_ns, pixel_ns, 3, !overlap);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(PieceFolder, CountsEveryEventOnceAndMakesAtMostThreePiecesPerPixel) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    const auto events = random_events(random, 3'000, 4'000, true);
    const std::int64_t pixel_ns = 1 + static_cast<std::int64_t>(random() % 5'000);
    const PixelGrid grid(static_cast<double>(pixel_ns));
    const base::Interval window{events[500].time.start_ns, events[2'500].time.start_ns};
    const base::Interval columns = PieceFolder(grid, window, 1).window();
    std::int64_t inside = 0, counted = 0;
    for (const auto& event : events) inside += is_drawn_in(event.time, columns);
    auto pieces = fold_all(events, grid, window);
    for (const Piece& piece : pieces) counted += piece.count;
    EXPECT_EQ(counted, inside);
    EXPECT_LE(static_cast<std::int64_t>(pieces.size()),
              3 * (columns.length() / grid.column_ns()) + 9);
    join_pieces(pieces, grid);
    counted = 0;
    for (const Piece& piece : pieces) counted += piece.count;
    EXPECT_EQ(counted, inside);
  }
}

TEST(PieceFolder, WhatIsInAFoldDoesNotDependOnWhereTheWindowBegins) {
  std::mt19937_64 random(3);
  const auto events = random_events(random, 2'000, 3'000, false);
  const PixelGrid grid(7'919);
  const std::int64_t first = events.front().time.start_ns;
  const auto whole = fold_all(events, grid, {first, events.back().time.end_ns});
  const auto moved = fold_all(events, grid, {first + 1'000'003, events.back().time.end_ns});
  ASSERT_GT(moved.size(), 100u);
  const std::size_t skipped = whole.size() - moved.size();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i].end_ns <= first + 1'000'003) continue;  // not to be seen
    EXPECT_EQ(whole[skipped + i].start_ns, moved[i].start_ns);
    EXPECT_EQ(whole[skipped + i].count, moved[i].count);
    EXPECT_EQ(whole[skipped + i].busy, moved[i].busy);
  }
}

TEST(PieceFolder, DrawsAnEventOfAPixelAloneAndWhole) {
  const auto pieces = fold_all({event_at(0, 100, 5), event_at(150, 155), event_at(160, 170, 9)},
                               PixelGrid(100), {50, 1'000});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].start_ns, 0);
  EXPECT_EQ(pieces[0].end_ns, 100);
  EXPECT_EQ(pieces[0].name, 5u);
  EXPECT_TRUE(pieces[0].ref.exists());
  EXPECT_EQ(pieces[1].start_ns, 150);
  EXPECT_EQ(pieces[1].end_ns, 170);
  EXPECT_EQ(pieces[1].count, 2u);
  EXPECT_EQ(pieces[1].name, 9u) << "the longest";
  EXPECT_FLOAT_EQ(pieces[1].busy, 15.0F / 20);
  EXPECT_FALSE(pieces[1].ref.exists());
}

TEST(PieceFolder, GivesEventsWithoutLengthASliver) {
  const auto pieces = fold_all({event_at(500, 500, 3)}, PixelGrid(10), {500, 1'000});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_GT(pieces[0].duration_ns(), 0);
  EXPECT_EQ(pieces[0].longest_ns, 0);
  EXPECT_EQ(pieces[0].name, 3u);
  EXPECT_TRUE(pieces[0].ref.exists());
}

TEST(PieceFolder, DrawsReversedEventsFromTheEarlierTimeAndAbsurdOnesSomewhere) {
  EXPECT_EQ(drawn_event_time(100, -40), (base::Interval{60, 100}));
  EXPECT_EQ(drawn_time(9, 2), (base::Interval{2, 9}));
  const base::Interval absurd = drawn_event_time(INT64_MAX, INT64_MIN);
  EXPECT_GE(absurd.length(), 0);
  DrawnEvent event;
  event.time = drawn_event_time(INT64_MIN, INT64_MAX);
  EXPECT_EQ(fold_all({event}, PixelGrid(1e300), {-1'000, 1'000}).size(), 1u);
}

TEST(PieceFolder, KeepsLevelsApartAndPutsDeeperOnesIntoTheLast) {
  DrawnEvent outer = event_at(0, 100), inner = event_at(10, 50), deepest = event_at(20, 30);
  inner.level = 1;
  deepest.level = 40;
  const auto pieces = fold_all({outer, inner, deepest}, PixelGrid(10), {0, 100}, 3);
  ASSERT_EQ(pieces.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pieces[i].level, i);
}

TEST(PieceFolder, AMillionEventsOnTopOfEachOtherStayAFewPieces) {
  PieceFolder folder(PixelGrid(1'000), {50'000, 150'000}, 1);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < 1'000'000; ++i) folder.add(event_at(i / 20, 200'000));
  const auto pieces = folder.finish();
  for (const Piece& piece : pieces) count += piece.count;
  EXPECT_EQ(count, 1'000'000);
  EXPECT_LT(pieces.size(), 20u);
}

TEST(JoinPieces, LeavesApartWhatLooksDifferent) {
  std::vector<Piece> pieces;
  for (const float busy : {0.5F, 0.51F, 0.9F}) {
    Piece piece;
    piece.start_ns = static_cast<std::int64_t>(pieces.size()) * 10;
    piece.end_ns = piece.start_ns + 10;
    piece.busy = piece.busiest = busy;
    piece.count = 4;
    pieces.push_back(piece);
  }
  join_pieces(pieces, PixelGrid(10));
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].count, 8u);
  EXPECT_FLOAT_EQ(pieces[0].busiest, 0.51F);
  EXPECT_FLOAT_EQ(pieces[1].busy, 0.9F);
}

}  // namespace
}  // namespace shardlens::trace::timeline
