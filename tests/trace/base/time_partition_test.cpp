#include "trace/base/time_partition.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace shardlens::trace::base {
namespace {

constexpr std::int64_t kEnd = 160;

struct OwnedSets {
  Intervals compute, communication, copies, optimizer;
  operator ActivitySets() const { return {compute, communication, copies, optimizer}; }
};

Intervals random_set(std::mt19937& random) {
  std::vector<Interval> raw;
  const int count = std::uniform_int_distribution(0, 10)(random);
  for (int i = 0; i < count; ++i) {
    const auto start = std::uniform_int_distribution<std::int64_t>(-20, kEnd)(random);
    raw.push_back(
        {start, start + std::uniform_int_distribution<std::int64_t>(-2, kEnd / 8)(random)});
  }
  return normalize(std::move(raw));
}

OwnedSets random_sets(std::mt19937& random) {
  return {random_set(random), random_set(random), random_set(random), random_set(random)};
}

bool holds(const Intervals& set, std::int64_t time) {
  return std::ranges::any_of(
      set, [&](const Interval& each) { return each.start_ns <= time && time < each.end_ns; });
}

// Of one nanosecond, from the definitions in docs/NUMBERS.md.
TimeClass class_at(const OwnedSets& sets, std::int64_t time) {
  const bool computes = holds(sets.compute, time), sends = holds(sets.communication, time);
  if (computes && sends) return TimeClass::kOverlapped;
  if (computes && holds(sets.optimizer, time)) return TimeClass::kOptimizer;
  if (computes) return TimeClass::kCompute;
  if (sends) return TimeClass::kExposed;
  if (holds(sets.copies, time)) return TimeClass::kCopy;
  return TimeClass::kIdle;
}

TEST(TimePartition, SaysOfEveryNanosecondWhatTheDefinitionsSay) {
  std::mt19937 random(11);
  for (int round = 0; round < 2'000; ++round) {
    const OwnedSets sets = random_sets(random);
    const auto start = std::uniform_int_distribution<std::int64_t>(-40, kEnd)(random);
    const Interval window{start,
                          start + std::uniform_int_distribution<std::int64_t>(0, 90)(random)};
    std::vector<TimeClass> swept, counted;
    sweep_classes(sets, window, [&](Interval part, TimeClass time_class) {
      EXPECT_EQ(part.start_ns, window.start_ns + static_cast<std::int64_t>(swept.size()));
      swept.insert(swept.end(), static_cast<std::size_t>(part.length()), time_class);
    });
    for (auto time = window.start_ns; time < window.end_ns; ++time) {
      counted.push_back(class_at(sets, time));
    }
    ASSERT_EQ(swept, counted) << "round " << round;
  }
}

TEST(TimePartition, JoinsNeighboursOfOneClass) {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    std::vector<TimeClass> parts;
    sweep_classes(random_sets(random), {0, kEnd}, [&](Interval part, TimeClass time_class) {
      EXPECT_GT(part.length(), 0);
      parts.push_back(time_class);
    });
    EXPECT_EQ(std::ranges::adjacent_find(parts), parts.end());
  }
}

TEST(TimePartition, SumsToTheWindow) {
  std::mt19937 random(13);
  const OwnedSets sets = random_sets(random);
  std::int64_t sum = 0;
  for (const std::int64_t ns : time_by_class(sets, {-30, kEnd})) sum += ns;
  EXPECT_EQ(sum, kEnd + 30);
}

TEST(TimePartition, OfAWindowWithoutLengthIsNothing) {
  const OwnedSets sets{{{0, 10}}, {}, {}, {}};
  EXPECT_EQ(time_by_class(sets, {5, 5}), TimeByClass{});
  EXPECT_EQ(time_by_class(sets, {9, 3}), TimeByClass{});
}

TEST(TimePartition, ReachesTheEndsOfTheNumbersRange) {
  const OwnedSets sets{{{INT64_MAX - 5, INT64_MAX}}, {}, {}, {}};
  const auto time = time_by_class(sets, {INT64_MAX - 10, INT64_MAX});
  EXPECT_EQ(time[index_of(TimeClass::kCompute)], 5);
  EXPECT_EQ(time[index_of(TimeClass::kIdle)], 5);
}

}  // namespace
}  // namespace shardlens::trace::base
