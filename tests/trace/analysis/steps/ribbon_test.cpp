// The ribbon on random steps.
#include "trace/analysis/steps/ribbon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/trace/analysis/synthetic_run.h"

namespace shardlens::trace::analysis {
namespace {

TEST(Ribbon, ExactPartitionSumsToTheBreakdown) {
  SyntheticOptions options;
  options.gpu = true;
  const auto run = make_run(options);
  const auto& batch = run.ranks[0];
  for (const auto& step : batch.steps) {
    std::vector<base::Interval> compute, communication, copies, optimizer;
    for (const auto& events : batch.events) {
      for (const auto& event : events.events) {
        auto& target = events.kind == model::EventKind::kCopy ? copies : compute;
        target.push_back({event.start_ns, event.end_ns()});
      }
    }
    for (const auto& row : batch.collectives) communication.push_back({row.start_ns, row.end_ns});
    for (const auto& span : batch.spans) {
      if (span.phase == base::Phase::kOptimizer) optimizer.push_back({span.start_ns, span.end_ns});
    }
    compute = base::normalize(compute);
    communication = base::normalize(communication);
    copies = base::normalize(copies);
    optimizer = base::normalize(optimizer);
    std::map<base::TimeClass, std::int64_t> sums;
    auto cursor = step.start_ns;
    for (const auto& piece : exact_partition({compute, communication, copies, optimizer},
                                             {step.start_ns, step.end_ns})) {
      EXPECT_EQ(piece.time.start_ns, cursor);
      cursor = piece.time.end_ns;
      sums[piece.bar_class] += piece.time.length();
    }
    EXPECT_EQ(cursor, step.end_ns);
    const auto counted = count_breakdown(batch, step);
    EXPECT_EQ(sums[base::TimeClass::kOverlapped], counted.overlap_ns);
    EXPECT_EQ(sums[base::TimeClass::kExposed], counted.exposed_ns);
    EXPECT_EQ(sums[base::TimeClass::kCopy], counted.exposed_copy_ns);
    EXPECT_EQ(sums[base::TimeClass::kIdle], counted.idle_ns);
    EXPECT_EQ(sums[base::TimeClass::kCompute] + sums[base::TimeClass::kOptimizer],
              counted.compute_ns - counted.overlap_ns);
  }
}

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
