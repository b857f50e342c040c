#include "ui/inspect/timeline/timeline_means.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace shardlens::ui::inspect {

namespace {

// Nanosecond by nanosecond.
double share_by_hand(const std::vector<trace::timeline::RibbonColumn>& columns, std::size_t of,
                     int kind, std::int64_t smooth) {
  const std::int64_t middle2 = columns[of].start_ns + columns[of].end_ns;  // twice
  double sum = 0, length = 0;
  for (const auto& column : columns) {
    for (std::int64_t at = column.start_ns; at < column.end_ns; ++at) {
      if (2 * at + 1 < middle2 - smooth || 2 * at + 1 > middle2 + smooth) continue;
      sum += static_cast<double>(column.share[static_cast<std::size_t>(kind)]);
      ++length;
    }
  }
  return sum / length;
}

TEST(MeanColumns, AreMeansOverAStepAroundEachColumn) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> share(0, 0.5f);
  std::vector<trace::timeline::RibbonColumn> columns;
  for (int i = 0; i < 60; ++i) {
    trace::timeline::RibbonColumn column;
    column.start_ns = 1'000 + 10 * i;
    column.end_ns = column.start_ns + 10;
    column.share[0] = share(random);
    column.share[3] = share(random);
    columns.push_back(column);
  }
  for (const std::int64_t smooth : {10, 70, 200}) {
    const auto means = mean_columns(columns, smooth);
    ASSERT_EQ(means.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(means[i].start_ns, columns[i].start_ns);
      for (const int kind : {0, 3}) {
        const double by_hand = share_by_hand(columns, i, kind, smooth);
        EXPECT_NEAR(static_cast<double>(means[i].share[static_cast<std::size_t>(kind)]), by_hand,
                    0.012)
            << i << " " << smooth;
      }
    }
  }
}

TEST(MeanColumns, DoNotFlickerOverEqualSteps) {
  // Steps of 25 ns in columns of 10 ns: each column sees another part of its step.
  std::vector<trace::timeline::RibbonColumn> columns;
  for (int i = 0; i < 100; ++i) {
    trace::timeline::RibbonColumn column;
    column.start_ns = 10 * i;
    column.end_ns = column.start_ns + 10;
    int busy = 0;
    for (std::int64_t at = column.start_ns; at < column.end_ns; ++at) busy += at % 25 < 10 ? 1 : 0;
    column.share[0] = static_cast<float>(busy) / 10;
    columns.push_back(column);
  }
  const auto means = mean_columns(columns, 25);
  for (std::size_t i = 3; i + 3 < means.size(); ++i)
    EXPECT_NEAR(means[i].share[0], 0.4f, 0.13f) << i;
}

TEST(MeanArea, HasTheHighestAndTheMeanOfAStep) {
  std::vector<trace::timeline::AreaPoint> points;
  for (int i = 0; i < 50; ++i) {
    points.push_back({100 * i, static_cast<double>(i % 5), static_cast<double>(i % 5) + 0.5});
  }
  const auto means = mean_area(points, 400);
  for (std::size_t i = 4; i + 4 < means.size(); ++i) {
    EXPECT_DOUBLE_EQ(means[i].value, 2);
    EXPECT_DOUBLE_EQ(means[i].highest, 4.5);
  }
  EXPECT_TRUE(mean_area({}, 10).empty());
  EXPECT_TRUE(mean_columns({}, 10).empty());
}

TEST(RowMeans, AreWorkedOutOnceForEachPicture) {
  trace::timeline::RowPicture row;
  row.columns.resize(4);
  for (int i = 0; i < 4; ++i) {
    row.columns[static_cast<std::size_t>(i)].start_ns = i;
    row.columns[static_cast<std::size_t>(i)].end_ns = i + 1;
    row.columns[static_cast<std::size_t>(i)].share[0] = i < 2 ? 1.0f : 0.0f;
  }
  RowMeans means;
  const float first = means.columns(row, 2)[1].share[0];
  row.columns[2].share[0] = 1;
  EXPECT_EQ(means.columns(row, 2)[1].share[0], first);
  EXPECT_GT(means.columns(row, 3)[1].share[0], first - 1);
  means = {};
  EXPECT_GT(means.columns(row, 2)[1].share[0], first);
}

}  // namespace

}  // namespace shardlens::ui::inspect
