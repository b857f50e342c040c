#include "profiler/memory/memory_category.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "trace/base/wall_clock.h"

namespace shardlens::profiler::memory {
namespace {

using trace::model::MemoryCategory;

std::int64_t of(const CategoryBytes::Composition& composition, MemoryCategory category) {
  return composition[static_cast<std::size_t>(category)];
}

TEST(CategoryBytes, RemembersTheCompositionAtThePeak) {
  CategoryBytes bytes;
  bytes.add(MemoryCategory::kParameters, 100);
  bytes.add(MemoryCategory::kActivations, 50);
  bytes.remove(MemoryCategory::kActivations, 50);
  bytes.add(MemoryCategory::kGradients, 30);
  const auto peak = bytes.take_peak().bytes;
  EXPECT_EQ(of(peak, MemoryCategory::kParameters), 100);
  EXPECT_EQ(of(peak, MemoryCategory::kActivations), 50);
  EXPECT_EQ(of(peak, MemoryCategory::kGradients), 0);
  EXPECT_EQ(of(bytes.current(), MemoryCategory::kGradients), 30);
}

TEST(CategoryBytes, RemembersWhenThePeakWas) {
  CategoryBytes bytes;
  const std::int64_t before = trace::base::wall_clock_ns();
  bytes.add(MemoryCategory::kActivations, 50);
  const std::int64_t after = trace::base::wall_clock_ns();
  bytes.remove(MemoryCategory::kActivations, 50);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  bytes.add(MemoryCategory::kActivations, 40);
  const auto peak = bytes.take_peak();
  EXPECT_GE(peak.time_ns, before);
  EXPECT_LE(peak.time_ns, after);
  EXPECT_GT(bytes.take_peak().time_ns, after + 2'000'000) << "since the last call";
}

TEST(CategoryBytes, StartsThePeakAnewAtThePresent) {
  CategoryBytes bytes;
  bytes.add(MemoryCategory::kParameters, 100);
  bytes.add(MemoryCategory::kOther, 100);
  bytes.remove(MemoryCategory::kOther, 100);
  bytes.take_peak();
  EXPECT_EQ(of(bytes.take_peak().bytes, MemoryCategory::kParameters), 100);
  bytes.add(MemoryCategory::kOther, 20);
  bytes.remove(MemoryCategory::kOther, 20);
  EXPECT_EQ(of(bytes.take_peak().bytes, MemoryCategory::kOther), 20);
}

TEST(CategoryBytes, RemembersTheHighestOfEachCategoryAtItsOwnTime) {
  CategoryBytes bytes;
  bytes.add(MemoryCategory::kActivations, 500);
  bytes.remove(MemoryCategory::kActivations, 500);
  bytes.add(MemoryCategory::kOther, 300);
  bytes.move(MemoryCategory::kOther, MemoryCategory::kGradients, 100);
  bytes.remove(MemoryCategory::kOther, 200);
  const auto highest = bytes.take_peak().highest;
  EXPECT_EQ(of(highest, MemoryCategory::kActivations), 500);
  EXPECT_EQ(of(highest, MemoryCategory::kOther), 300);
  EXPECT_EQ(of(highest, MemoryCategory::kGradients), 100);
  const auto next = bytes.take_peak().highest;
  EXPECT_EQ(of(next, MemoryCategory::kActivations), 0);
  EXPECT_EQ(of(next, MemoryCategory::kGradients), 100);
}

TEST(CategoryBytes, MovesBytesAndThePeakItStandsAt) {
  CategoryBytes bytes;
  bytes.add(MemoryCategory::kOther, 40);
  bytes.move(MemoryCategory::kOther, MemoryCategory::kGradients, 40);
  EXPECT_EQ(of(bytes.current(), MemoryCategory::kOther), 0);
  EXPECT_EQ(of(bytes.current(), MemoryCategory::kGradients), 40);
  EXPECT_EQ(bytes.total(), 40);
  EXPECT_EQ(of(bytes.take_peak().bytes, MemoryCategory::kGradients), 40);
}

TEST(CategoryBytes, StaysExactWithSeveralThreads) {
  CategoryBytes bytes;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 5'000; ++i) {
          bytes.add(MemoryCategory::kActivations, 8);
          if (i % 2 == 0) bytes.remove(MemoryCategory::kActivations, 8);
        }
      });
  }
  EXPECT_EQ(bytes.total(), 4 * 2'500 * 8);
  EXPECT_EQ(of(bytes.current(), MemoryCategory::kActivations), 4 * 2'500 * 8);
}

}  // namespace
}  // namespace shardlens::profiler::memory
