// Pictures against a naive painting of every event, and pictures from overviews against those from
// events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "tests/trace/explore/testing/known_run.h"
#include "tests/trace/explore/testing/random_run.h"
#include "tests/trace/timeline/random_events.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/explore/run_explorer.h"
#include "trace/synthetic/synthetic_run.h"

namespace shardlens::trace::test {
namespace {

constexpr int kPixels = 300;

model::EventKind kind_of_row(timeline::RowKind kind) {
  switch (kind) {
    case timeline::RowKind::kOperators:
      return model::EventKind::kOperator;
    case timeline::RowKind::kLaunches:
      return model::EventKind::kLaunch;
    case timeline::RowKind::kCopies:
      return model::EventKind::kCopy;
    default:
      return model::EventKind::kKernel;
  }
}

bool is_bulk(const timeline::TimelineRow& row) {
  return row.kind == timeline::RowKind::kOperators || row.kind == timeline::RowKind::kLaunches ||
         row.kind == timeline::RowKind::kCopies || row.kind == timeline::RowKind::kKernels;
}

std::vector<timeline::DrawnEvent> events_of(const RandomRun& run, const timeline::TimelineRow& row,
                                            int level) {
  std::vector<timeline::DrawnEvent> events;
  for (const RandomEvent& each : run.events()) {
    if (each.rank != row.rank || each.lane != row.lane || each.kind != kind_of_row(row.kind)) {
      continue;
    }
    const int depth = row.kind == timeline::RowKind::kOperators ? each.event.depth() : 0;
    if (std::min(depth, row.levels - 1) != level) continue;
    timeline::DrawnEvent event;
    event.time = timeline::drawn_event_time(each.event.start_ns, each.event.duration_ns);
    events.push_back(event);
  }
  return events;
}

std::vector<timeline::Piece> level_of(const timeline::RowPicture& picture, int level) {
  std::vector<timeline::Piece> pieces;
  std::ranges::copy_if(picture.pieces, std::back_inserter(pieces),
                       [&](const timeline::Piece& piece) { return piece.level == level; });
  return pieces;
}

void expect_same_pixels(const RandomRun& run, explore::RunExplorer& explorer,
                        std::mt19937_64& random) {
  const auto rows = explorer.rows();
  const auto pixel_ns = 1 + static_cast<std::int64_t>((random() % 900'000) >> (random() % 18));
  const std::int64_t start_ns =
      RandomRun::kBegin - 3'000'000 +
      static_cast<std::int64_t>(random() %
                                static_cast<std::uint64_t>(run.end_ns() - RandomRun::kBegin));
  for (const timeline::TimelineRow& row : rows->rows) {
    if (!is_bulk(row)) continue;
    const timeline::RowPicture picture =
        picture_of(explorer, row.id, start_ns, start_ns + kPixels * pixel_ns, kPixels);
    ASSERT_TRUE(picture.is_exact);
    for (int level = 0; level < row.levels; ++level) {
      const timeline::Painting naive =
          timeline::paint_events(events_of(run, row, level), start_ns, pixel_ns, kPixels);
      const timeline::Painting drawn =
          timeline::paint_pieces(level_of(picture, level), start_ns, pixel_ns, kPixels);
      ASSERT_EQ(naive.touched, drawn.touched)
          << row.label << " level " << level << ", pixels of " << pixel_ns << " ns";
    }
  }
}

TEST(Pictures, TouchTheSamePixelsAsEveryEvent) {
  std::mt19937_64 random(11);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const RandomRun run({.seed = seed, .ranks = 2, .absurd_times = seed % 2 == 0});
    const auto explorer = open_whole(run.path());
    ASSERT_TRUE(explorer);
    for (int round = 0; round < 12; ++round) {
      expect_same_pixels(run, *explorer, random);
      if (HasFatalFailure()) FAIL() << "run " << seed << ", round " << round;
    }
  }
}

TEST(Pictures, ContradictionsAreCounted) {
  const RandomRun run({.seed = 5, .ranks = 2, .out_of_order = false});
  const auto explorer = open_whole(run.path());
  ASSERT_TRUE(explorer);
  const auto rows = explorer->rows();
  std::int64_t reversed = 0;
  for (const RandomEvent& each : run.events()) {
    reversed += each.kind != model::EventKind::kAllocation && each.event.duration_ns < 0;
  }
  EXPECT_GT(reversed, 0);
  EXPECT_EQ(rows->reversed_events, reversed);
  EXPECT_GT(rows->overlapping_events, 0);
}

// As cuBLAS's split-K products and their reductions on an H100 or H200.
TEST(Pictures, KernelsThatBeginBeforeTheLastHasEndedAreNoContradiction) {
  const RandomRun run({.seed = 5, .ranks = 2, .out_of_order = false});
  const auto rows_with = [&run](model::EventKind only) {
    std::int64_t overlapping = 0;
    std::map<std::tuple<int, int, std::uint32_t>, std::int64_t> ends;
    for (const RandomEvent& each : run.events()) {
      if (each.kind != only) continue;
      const auto time = timeline::drawn_event_time(each.event.start_ns, each.event.duration_ns);
      auto& end =
          ends.try_emplace({each.rank, each.lane, each.event.flags >> model::kEventDepthShift},
                           INT64_MIN)
              .first->second;
      overlapping += time.start_ns < end;
      end = std::max(end, time.end_ns);
    }
    return overlapping;
  };
  const auto explorer = open_whole(run.path());
  ASSERT_TRUE(explorer);
  EXPECT_GT(rows_with(model::EventKind::kKernel), 0);
  EXPECT_EQ(explorer->rows()->overlapping_events, rows_with(model::EventKind::kOperator) +
                                                      rows_with(model::EventKind::kCopy) +
                                                      rows_with(model::EventKind::kLaunch));
}

class SyntheticPictures : public testing::Test {
 protected:
  static std::filesystem::path generate(const std::filesystem::path& folder) {
    synthetic::SyntheticRunOptions options;
    options.ranks = 2;
    options.events = 250'000;
    const auto run = synthetic::generate_run(folder, options);
    EXPECT_TRUE(run);
    return run ? run->folder : std::filesystem::path();
  }

  // Of a row over the whole run, at a pixel of `pixel_ns`.
  timeline::RowPicture whole(const timeline::TimelineRow& row, double pixel_ns) const {
    const auto rows = explorer_->rows();
    const auto length = static_cast<double>(rows->end_ns - rows->start_ns);
    return picture_of(*explorer_, row.id, rows->start_ns, rows->end_ns, length / pixel_ns);
  }

  const Folder folder_;
  const std::unique_ptr<explore::RunExplorer> explorer_ = open_whole(generate(folder_.path()));
};

// Nanoseconds busy up to each of 1,000 times.
std::vector<double> busy_until(const std::vector<timeline::Piece>& pieces, std::int64_t start_ns,
                               std::int64_t step_ns) {
  const timeline::Painting painting = timeline::paint_pieces(pieces, start_ns, step_ns, 1'000);
  std::vector<double> sums;
  double sum = 0;
  for (const double covered : painting.covered) {
    sum += covered * static_cast<double>(step_ns);
    sums.push_back(sum);
  }
  return sums;
}

TEST_F(SyntheticPictures, FromAfarAreAsBusyAsFromEvents) {
  const auto rows = explorer_->rows();
  const std::int64_t step_ns = (rows->end_ns - rows->start_ns) / 1'000;
  int compared = 0;
  for (const timeline::TimelineRow& row : rows->rows) {
    if (!is_bulk(row)) continue;
    for (const double cells : {1.0, 3.0, 4.0, 17.0}) {
      const double pixel_ns =
          static_cast<double>(explore::cell_length_ns(explore::kFinestCellBits)) * cells;
      const timeline::RowPicture coarse = whole(row, pixel_ns), fine = whole(row, 900'000);
      ASSERT_FALSE(coarse.is_exact);
      ASSERT_TRUE(coarse.is_complete);
      ASSERT_TRUE(fine.is_exact);
      for (int level = 0; level < row.levels; ++level) {
        const auto a = busy_until(level_of(coarse, level), rows->start_ns, step_ns);
        const auto b = busy_until(level_of(fine, level), rows->start_ns, step_ns);
        for (std::size_t i = 0; i < a.size(); ++i) {
          // A piece spreads what it holds over itself, a run of them over sixteen columns.
          ASSERT_NEAR(a[i], b[i], 2.5 * (pixel_ns + 900'000)) << row.label << " level " << level;
        }
        ASSERT_NEAR(a.back(), b.back(), 1e-3 * b.back() + pixel_ns) << row.label;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 50);
}

std::array<double, base::kPartitionClasses> sums_of(const timeline::RowPicture& picture) {
  std::array<double, base::kPartitionClasses> sums{};
  for (const timeline::RibbonColumn& column : picture.columns) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(column.share[i]) *
                 static_cast<double>(column.end_ns - column.start_ns);
    }
  }
  return sums;
}

TEST_F(SyntheticPictures, RibbonsFromAfarHaveTheSameTimeByClass) {
  const auto rows = explorer_->rows();
  for (const timeline::TimelineRow& row : rows->rows) {
    if (row.kind != timeline::RowKind::kRibbon) continue;
    const auto exact = sums_of(whole(row, 500'000));
    const double all = std::accumulate(exact.begin(), exact.end(), 0.0);
    EXPECT_GT(all, 0);
    for (const double cells : {1.0, 2.5, 4.0, 16.0}) {
      const auto coarse = sums_of(whole(
          row, static_cast<double>(explore::cell_length_ns(explore::kFinestCellBits)) * cells));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_NEAR(coarse[i], exact[i], 0.005 * all) << row.label << " class " << i;
      }
    }
  }
}

TEST_F(SyntheticPictures, HaveNoMorePiecesThanPixels) {
  const auto rows = explorer_->rows();
  std::mt19937_64 random(12);
  for (int round = 0; round < 20; ++round) {
    const auto length = static_cast<std::int64_t>(
        1'000 + random() % static_cast<std::uint64_t>(rows->end_ns - rows->start_ns));
    const std::int64_t start_ns = rows->start_ns + length / 7;
    for (const timeline::TimelineRow& row : rows->rows) {
      const timeline::RowPicture picture =
          picture_of(*explorer_, row.id, start_ns, start_ns + length, kPixels);
      EXPECT_LE(picture.pieces.size(), static_cast<std::size_t>(row.levels) * (2 * kPixels + 12))
          << row.label;
      EXPECT_LE(picture.columns.size(), 2u * kPixels + 4) << row.label;
      EXPECT_TRUE(std::ranges::is_sorted(picture.pieces, {}, [](const timeline::Piece& piece) {
        return std::pair(piece.level, piece.start_ns);
      }));
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::test
