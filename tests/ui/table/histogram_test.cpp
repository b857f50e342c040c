#include "ui/table/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace shardlens::ui::inspect {

namespace {

TEST(Histogram, HasBinsThatJoinAndCoverAllDurations) {
  trace::timeline::DurationHistogram histogram;
  histogram.first_ns = 1300;
  histogram.last_ns = 5.2e6;
  EXPECT_NEAR(table::histogram_bin(histogram, 0).first, 1300, 1e-6);
  EXPECT_NEAR(table::histogram_bin(histogram, trace::timeline::kHistogramBins - 1).second, 5.2e6,
              1e-3);
  for (int i = 1; i < trace::timeline::kHistogramBins; ++i) {
    EXPECT_DOUBLE_EQ(table::histogram_bin(histogram, i).first,
                     table::histogram_bin(histogram, i - 1).second);
  }
  EXPECT_DOUBLE_EQ(table::histogram_position(histogram, 1300), 0);
  EXPECT_DOUBLE_EQ(table::histogram_position(histogram, 5.2e6), 1);
  EXPECT_DOUBLE_EQ(table::histogram_position(histogram, std::sqrt(1300 * 5.2e6)), 0.5);
}

TEST(Histogram, PutsRoundTicksWhereTheyBelong) {
  trace::timeline::DurationHistogram histogram;
  histogram.first_ns = 90e3;
  histogram.last_ns = 2.1e6;
  const auto ticks = table::histogram_ticks(histogram, 9);
  std::vector<std::string> labels;
  for (const auto& tick : ticks) labels.push_back(tick.label);
  EXPECT_THAT(labels, testing::ElementsAre("100 µs", "200 µs", "500 µs", "1 ms", "2 ms"));
  EXPECT_NEAR(ticks[3].position, std::log(1e6 / 90e3) / std::log(2.1e6 / 90e3), 1e-9);
  EXPECT_LE(table::histogram_ticks(histogram, 3).size(), 3u);
  histogram.last_ns = histogram.first_ns;
  EXPECT_EQ(table::histogram_ticks(histogram, 9).size(), 1u) << "one value";
  histogram.first_ns = histogram.last_ns = 0;
  EXPECT_EQ(table::histogram_ticks(histogram, 9).size(), 1u);
}

}  // namespace

}  // namespace shardlens::ui::inspect
