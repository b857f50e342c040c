#include "trace/base/intervals.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace shardlens::trace::base {
namespace {

constexpr std::int64_t kWidth = 96;
using Bitmap = std::bitset<kWidth>;  // one bit per nanosecond

Bitmap bitmap_of(const std::vector<Interval>& intervals) {
  Bitmap bits;
  for (const auto& interval : intervals) {
    for (auto t = interval.start_ns; t < interval.end_ns; ++t) {
      bits.set(static_cast<std::size_t>(t));
    }
  }
  return bits;
}

// Intervals that may overlap, touch, be empty or reversed.
std::vector<Interval> random_intervals(std::mt19937& random, int most) {
  std::vector<Interval> result;
  std::uniform_int_distribution<std::int64_t> time(0, kWidth - 1);
  const int count = std::uniform_int_distribution(0, most)(random);
  for (int i = 0; i < count; ++i) {
    const auto start = time(random);
    const auto length = std::uniform_int_distribution<std::int64_t>(-2, 12)(random);
    result.push_back({start, std::min(start + length, kWidth)});
  }
  return result;
}

void expect_canonical(const Intervals& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_LT(set[i].start_ns, set[i].end_ns);
    if (i > 0) {
      EXPECT_LT(set[i - 1].end_ns, set[i].start_ns);
    }
  }
}

class IntervalsProperty : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random{GetParam()};
};

TEST_P(IntervalsProperty, NormalizeKeepsEveryNanosecond) {
  for (int round = 0; round < 200; ++round) {
    const auto raw = random_intervals(random, 12);
    const auto set = normalize(raw);
    expect_canonical(set);
    EXPECT_EQ(bitmap_of(set), bitmap_of(raw));
    EXPECT_EQ(length(set), static_cast<std::int64_t>(bitmap_of(raw).count()));
  }
}

TEST_P(IntervalsProperty, AlgebraAgreesWithABitmap) {
  for (int round = 0; round < 200; ++round) {
    const auto a = normalize(random_intervals(random, 8));
    const auto b = normalize(random_intervals(random, 8));
    const auto bits_a = bitmap_of(a);
    const auto bits_b = bitmap_of(b);
    for (const auto& set : {unite(a, b), intersect(a, b), subtract(a, b)}) expect_canonical(set);
    EXPECT_EQ(bitmap_of(unite(a, b)), bits_a | bits_b);
    EXPECT_EQ(bitmap_of(intersect(a, b)), bits_a & bits_b);
    EXPECT_EQ(bitmap_of(subtract(a, b)), bits_a & ~bits_b);
  }
}

TEST_P(IntervalsProperty, ClippingAgreesWithABitmap) {
  std::uniform_int_distribution<std::int64_t> time(0, kWidth);
  for (int round = 0; round < 200; ++round) {
    const auto set = normalize(random_intervals(random, 8));
    const Interval window{time(random), time(random)};
    const auto expected = bitmap_of(set) & bitmap_of({window});
    EXPECT_EQ(bitmap_of(clip(set, window)), expected);
    EXPECT_EQ(length_within(set, window), static_cast<std::int64_t>(expected.count()));
  }
}

TEST_P(IntervalsProperty, InsertingPiecemealEqualsTheUnion) {
  for (int round = 0; round < 100; ++round) {
    Intervals set;
    Bitmap expected;
    for (int i = 0; i < 6; ++i) {
      const auto added = normalize(random_intervals(random, 4));
      insert(set, added);
      expected |= bitmap_of(added);
      expect_canonical(set);
    }
    EXPECT_EQ(bitmap_of(set), expected);
  }
}

TEST_P(IntervalsProperty, TrimmingForgetsOnlyThePast) {
  std::uniform_int_distribution<std::int64_t> time(0, kWidth);
  for (int round = 0; round < 100; ++round) {
    auto set = normalize(random_intervals(random, 8));
    const auto border = time(random);
    const auto expected = bitmap_of(set) & bitmap_of({{border, kWidth}});
    trim_before(set, border);
    expect_canonical(set);
    EXPECT_EQ(bitmap_of(set), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntervalsProperty, testing::Values(1u, 2u, 3u));

TEST(Intervals, AreSpreadOverALongerTime) {
  const auto spread = [](const Interval& whole, std::int64_t ns) {
    std::vector<Interval> parts;
    spread_over(whole, ns, [&](const Interval& part) { parts.push_back(part); });
    return parts;
  };
  const auto parts = spread({1000, 1100}, 25);
  EXPECT_EQ(parts.size(), 10u);
  EXPECT_EQ(length(parts), 25);
  EXPECT_EQ(parts[3].start_ns, 1030);
  EXPECT_EQ(normalize(parts), parts) << "they are apart";
  EXPECT_EQ(spread({1000, 1100}, 100), (Intervals{{1000, 1100}}));
  EXPECT_EQ(spread({1000, 1100}, 500), (Intervals{{1000, 1100}})) << "there is no more of it";
  EXPECT_EQ(length(spread({1000, 1100}, 0)), 0);
}

TEST(Intervals, TouchingIntervalsAreOne) {
  const Intervals joined{{0, 10}};
  EXPECT_EQ(normalize({{5, 10}, {0, 5}}), joined);
  Intervals set{{0, 5}};
  insert(set, {{5, 10}});
  EXPECT_EQ(set, joined);
}

TEST(Intervals, AreClippedByAWindowWithoutABeginning) {
  const Intervals set{{5, 10}, {20, 30}};
  EXPECT_EQ(clip(set, {INT64_MIN, 25}), (Intervals{{5, 10}, {20, 25}}));
  EXPECT_EQ(length_within(set, {INT64_MIN, INT64_MAX}), 15);
}

}  // namespace
}  // namespace shardlens::trace::base
