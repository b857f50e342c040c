#include "trace/timeline/pieces/collective_parts.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/trace/timeline/random_events.h"

namespace shardlens::trace::timeline {
namespace {

Piece collective(std::int64_t start_ns, std::int64_t end_ns) {
  Piece piece;
  piece.start_ns = start_ns;
  piece.end_ns = end_ns;
  piece.longest_ns = end_ns - start_ns;
  piece.ref = {EventTableKind::kCollective, 0, 5, 0};
  piece.latest_start_ns = start_ns + 3;
  return piece;
}

TEST(CollectiveParts, AreExactWhereTheyCanBeSeen) {
  const auto parts = split_by_exposure({collective(0, 100)}, {{20, 60}}, PixelGrid(10));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].piece_class, base::TimeClass::kExposed);
  EXPECT_EQ(parts[1].piece_class, base::TimeClass::kOverlapped);
  EXPECT_EQ(parts[1].start_ns, 20);
  EXPECT_EQ(parts[1].end_ns, 60);
  for (const Piece& part : parts) {
    EXPECT_TRUE(part.ref.exists());
    EXPECT_EQ(part.longest_ns, 100);
    EXPECT_EQ(part.latest_start_ns, 3);
  }
}

TEST(CollectiveParts, CoverTheWholeAndAreNotShorterThanAPixel) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<base::Interval> compute;
    for (const auto& event : random_events(random, 200, 80, false)) compute.push_back(event.time);
    const std::int64_t start = compute.front().start_ns + 100, end = compute.back().end_ns - 50;
    const auto parts =
        split_by_exposure({collective(start, end)}, base::normalize(compute), PixelGrid(50));
    std::int64_t until = start;
    for (const Piece& part : parts) {
      EXPECT_EQ(part.start_ns, until);
      EXPECT_GE(part.duration_ns(), 50);
      until = part.end_ns;
    }
    EXPECT_EQ(until, end);
  }
}

TEST(CollectiveParts, ShortOnesAreWhatMostOfThemIs) {
  EXPECT_EQ(communication_class({0, 10}, {{0, 6}}), base::TimeClass::kOverlapped);
  EXPECT_EQ(communication_class({0, 10}, {{0, 4}}), base::TimeClass::kExposed);
  EXPECT_EQ(communication_class({5, 5}, {{0, 9}}), base::TimeClass::kOverlapped);
  EXPECT_EQ(communication_class({5, 5}, {}), base::TimeClass::kExposed);
}

}  // namespace
}  // namespace shardlens::trace::timeline
