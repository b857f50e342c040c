#include "trace/timeline/pieces/area_points.h"

#include <gtest/gtest.h>

#include <utility>

namespace shardlens::trace::timeline {
namespace {

const std::vector<AreaSample> kSamples{{5, 1}, {100, 2}, {101, 4}, {109, 9}, {115, 3}, {500, 7}};

TEST(AreaPoints, OnePerPixelWithMeanAndHighest) {
  const auto points = area_points(kSamples, {100, 200}, PixelGrid(10));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].time_ns, 100);
  EXPECT_DOUBLE_EQ(points[1].value, 5);
  EXPECT_DOUBLE_EQ(points[1].highest, 9);
  EXPECT_DOUBLE_EQ(points[2].value, 3);
}

TEST(AreaPoints, BeginWithTheValueThatHoldsThere) {
  const auto points = area_points(kSamples, {200, 300}, PixelGrid(1));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].time_ns, 115);
  EXPECT_DOUBLE_EQ(points[0].value, 3);
  EXPECT_TRUE(area_points(kSamples, {0, 5}, PixelGrid(1)).empty());
}

TEST(AreaScale, IsWholeForSharesAndBeginsWhereItSaysMost) {
  const auto scale = [](const char* unit, double highest, double watts = 0) {
    const AreaScale got = area_scale(unit, highest, watts);
    return std::pair(got.base, got.top);
  };
  using Range = std::pair<double, double>;
  EXPECT_EQ(scale("%", 40), Range(0, 100));
  EXPECT_EQ(scale("share", 1), Range(0, 1));
  EXPECT_EQ(scale("°C", 71), Range(20, 100));
  EXPECT_EQ(scale("°C", 104), Range(20, 104));
  EXPECT_EQ(scale("W", 310, 700), Range(0, 700)) << "against its limit";
  EXPECT_EQ(scale("W", 310), Range(0, 310));
  EXPECT_EQ(scale("MHz", 1980, 700), Range(0, 1980));
  EXPECT_EQ(scale("bytes/s", 0), Range(0, 1)) << "nothing to divide by";
}

TEST(ReadyPoints, ShowTheLargestOfAPixel) {
  const std::vector<ReadyPoint> marks{{10, 1, 5}, {11, 2, 50}, {12, 3, 7}, {20, 4, 1}, {99, 5, 1}};
  const auto points = ready_points(marks, {10, 30}, PixelGrid(10));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].name, 2u);
  EXPECT_EQ(points[1].time_ns, 20);
  EXPECT_EQ(ready_points(marks, {0, 100}, PixelGrid(1)).size(), 5u);
}

}  // namespace
}  // namespace shardlens::trace::timeline
