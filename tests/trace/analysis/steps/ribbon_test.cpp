#include "trace/analysis/steps/ribbon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace shardlens::trace::analysis {
namespace {

TEST(Ribbon, SliversDisappearAndTheRestStaysCovered) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<ClassPiece> pieces;
    std::int64_t now = 0;
    while (now < 5000) {
      const bool is_long = random() % 4 == 0;
      const auto length =
          static_cast<std::int64_t>(is_long ? 10 + random() % 300 : 1 + random() % 9);
      const auto bar_class = static_cast<base::TimeClass>(random() % 6);
      pieces.push_back({{now, now + length}, bar_class});
      now += length;
    }
    const auto coarse = without_slivers(pieces, 10);
    std::int64_t cursor = 0;
    for (const auto& piece : coarse) {
      EXPECT_EQ(piece.time.start_ns, cursor);
      EXPECT_GE(piece.time.length(), 10);
      cursor = piece.time.end_ns;
    }
    EXPECT_EQ(cursor, now);
    // What was long enough keeps its class at its middle.
    for (const auto& piece : pieces) {
      if (piece.time.length() < 10) continue;
      const auto middle = (piece.time.start_ns + piece.time.end_ns) / 2;
      const auto found = std::find_if(coarse.begin(), coarse.end(), [&](const auto& other) {
        return other.time.start_ns <= middle && middle < other.time.end_ns;
      });
      ASSERT_NE(found, coarse.end());
      EXPECT_EQ(found->bar_class, piece.bar_class);
    }
  }
}

TEST(Ribbon, DenseSliversTakeTheClassThatFillsMost) {
  std::vector<ClassPiece> pieces;
  for (std::int64_t t = 0; t < 1000; t += 10) {
    pieces.push_back({{t, t + 7}, base::TimeClass::kCompute});
    pieces.push_back({{t + 7, t + 10}, base::TimeClass::kIdle});
  }
  const auto coarse = without_slivers(pieces, 100);
  ASSERT_EQ(coarse.size(), 1u);
  EXPECT_EQ(coarse[0].bar_class, base::TimeClass::kCompute);
}

}  // namespace
}  // namespace shardlens::trace::analysis
