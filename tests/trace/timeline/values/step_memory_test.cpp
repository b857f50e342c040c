// Layouts against what is alive at every moment, summed naively.
#include "trace/timeline/values/step_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace shardlens::trace::timeline {
namespace {

constexpr std::int64_t kStart = 1'000'000, kEnd = 2'000'000;

StepAllocation allocation(std::int64_t start, std::int64_t end, std::int64_t bytes) {
  StepAllocation one;
  one.start_ns = kStart + start;
  one.end_ns = kStart + end;
  one.bytes = bytes;
  one.is_older = start == 0;
  one.outlives = kStart + end == kEnd;
  return one;
}

StepAllocations step_of(std::vector<StepAllocation> all) {
  std::ranges::stable_sort(all, {}, &StepAllocation::start_ns);
  return {kStart, kEnd, std::move(all), {""}};
}

// Sizes over many orders of magnitude, many at equal times, some without length or bytes.
StepAllocations random_step(std::mt19937_64& random, int count) {
  std::vector<StepAllocation> all;
  const std::int64_t grain = 1 + static_cast<std::int64_t>(random() % 20'000);
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = random() % 5 == 0 ? 0 : random() % 1'000'000 / grain * grain;
    const std::int64_t length = random() % 6 == 0 ? 1'000'000 : random() % 300'000 / grain * grain;
    StepAllocation one = allocation(start, std::min<std::int64_t>(start + length, 1'000'000),
                                    static_cast<std::int64_t>(random() >> (34 + random() % 30)));
    one.category = static_cast<model::MemoryCategory>(random() % model::kMemoryCategoryCount);
    all.push_back(one);
  }
  return step_of(std::move(all));
}

std::int64_t live_at(const StepAllocations& step, std::int64_t time_ns,
                     bool hides_constant = false) {
  std::int64_t sum = 0;
  for (const StepAllocation& one : step.all) {
    if (hides_constant && one.is_constant()) continue;
    if (one.start_ns <= time_ns && time_ns < one.end_ns) sum += one.bytes;
  }
  return sum;
}

struct Layer {
  std::int64_t bottom = 0, top = 0;
  int band = -1;
};
std::vector<Layer> layers_at(const StepAllocations& step, const MemoryFlame& flame,
                             std::int64_t time_ns) {
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < flame.bands.size(); ++i) {
    const StepAllocation& one = step.all[flame.bands[i].allocation];
    if (one.start_ns > time_ns || one.end_ns <= time_ns) continue;
    std::int64_t bottom = -1;
    for (const auto& point : flame.points_of(flame.bands[i])) {
      if (point.time_ns <= time_ns) bottom = point.offset;
    }
    layers.push_back({bottom, bottom + one.bytes, static_cast<int>(i)});
  }
  std::ranges::sort(layers, {}, &Layer::bottom);
  MemoryFlame::Small small;
  for (const auto& point : flame.small) {
    if (point.time_ns <= time_ns) small = point;
  }
  if (small.bytes > 0) layers.push_back({small.offset, small.offset + small.bytes, -1});
  return layers;
}

std::set<std::int64_t> moments(const StepAllocations& step) {
  std::set<std::int64_t> times;
  for (const StepAllocation& one : step.all)
    times.insert({one.start_ns, one.end_ns - 1, one.end_ns});
  return times;
}

void expect_true_heights(const StepAllocations& step, const FlameOptions& options) {
  const MemoryFlame flame = layout_flame(step, options);
  std::int64_t highest = 0;
  for (const std::int64_t time : moments(step)) {
    const auto layers = layers_at(step, flame, time);
    std::int64_t bottom = 0;
    for (const Layer& layer : layers) {
      ASSERT_EQ(layer.bottom, bottom) << "at " << time - kStart << ": a gap or an overlap";
      bottom = layer.top;
    }
    ASSERT_EQ(bottom, live_at(step, time, options.hides_constant)) << "at " << time - kStart;
    highest = std::max(highest, bottom);
  }
  EXPECT_EQ(flame.highest_bytes, highest);
  std::int64_t constant = 0;
  for (const StepAllocation& one : step.all) constant += one.is_constant() ? one.bytes : 0;
  EXPECT_EQ(flame.constant_bytes, options.hides_constant ? constant : 0);
  for (const auto& band : flame.bands) {
    const auto points = flame.points_of(band);
    EXPECT_EQ(std::ranges::adjacent_find(points, {}, &MemoryFlame::Point::offset), points.end())
        << "a point where nothing moves";
  }
}

TEST(MemoryFlame, IsAsHighAsWhatIsAliveAtEveryMoment) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const StepAllocations step = random_step(random, 1 + static_cast<int>(random() % 150));
    FlameOptions options;
    options.rows = 1 + static_cast<int>(random() % 500);
    options.most_bands = random() % 100;
    options.hides_constant = random() % 2 == 0;
    SCOPED_TRACE("round " + std::to_string(round));
    expect_true_heights(step, options);
    if (HasFatalFailure()) return;
  }
}

TEST(MemoryFlame, PutsWhatWasThereAtTheBottomByCategory) {
  auto optimizer = allocation(0, 1'000'000, 40), parameters = allocation(0, 1'000'000, 20);
  optimizer.category = model::MemoryCategory::kOptimizer;
  parameters.category = model::MemoryCategory::kParameters;
  const StepAllocations step = step_of({optimizer, parameters, allocation(10, 20, 5)});
  const MemoryFlame flame = layout_flame(step);
  EXPECT_EQ(flame.points_of(flame.bands[1])[0].offset, 0) << "parameters";
  EXPECT_EQ(flame.points_of(flame.bands[0])[0].offset, 20) << "optimizer state";
}

TEST(MemoryFlame, JoinsWhatIsLessThanARowIntoOneBandOnTop) {
  std::vector<StepAllocation> all{allocation(0, 1'000'000, 100'000)};
  for (int i = 0; i < 50; ++i) all.push_back(allocation(100 + i, 900, 10));
  const StepAllocations step = step_of(all);
  const MemoryFlame flame = layout_flame(step, {.rows = 100});
  EXPECT_EQ(flame.bands.size(), 1u);
  EXPECT_EQ(flame.small_count, 50);
  EXPECT_EQ(flame.least_bytes, 1005) << "100,500 bytes over 100 rows";
  const auto highest = std::ranges::max_element(flame.small, {}, &MemoryFlame::Small::bytes);
  EXPECT_EQ(highest->bytes, 500);
  EXPECT_EQ(highest->count, 50);
  EXPECT_EQ(highest->offset, 100'000);
}

TEST(MemoryFlame, FindsWhatLiesUnderAPoint) {
  std::mt19937_64 random(11);
  const StepAllocations step = random_step(random, 120);
  const MemoryFlame flame = layout_flame(step, {.rows = 60});
  int found = 0;
  for (const std::int64_t time : moments(step)) {
    for (const Layer& layer : layers_at(step, flame, time)) {
      for (const std::int64_t offset : {layer.bottom, layer.top - 1}) {
        const FlameHit hit = find_in_flame(step, flame, time, offset);
        ASSERT_EQ(hit.band, layer.band);
        ASSERT_EQ(hit.small >= 0, layer.band < 0);
        ++found;
      }
    }
    const FlameHit above = find_in_flame(step, flame, time, live_at(step, time));
    ASSERT_EQ(std::max(above.band, above.small), -1);
  }
  EXPECT_GT(found, 1'000);
}

TEST(MemoryPeak, IsTheHighestMomentWithWhatWasAliveThen) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    const StepAllocations step = random_step(random, 1 + static_cast<int>(random() % 100));
    const MemoryPeak peak = find_peak(step.all);
    std::int64_t highest = 0;
    for (const std::int64_t time : moments(step)) highest = std::max(highest, live_at(step, time));
    ASSERT_EQ(peak.bytes, highest);
    std::int64_t sum = 0, listed = 0;
    for (const std::int64_t bytes : peak.composition) sum += bytes;
    for (const std::uint32_t i : peak.alive) listed += step.all[i].bytes;
    ASSERT_EQ(sum, highest);
    ASSERT_EQ(listed, highest);
    ASSERT_TRUE(std::ranges::is_sorted(peak.alive, std::greater{},
                                       [&](std::uint32_t i) { return step.all[i].bytes; }));
    if (highest > 0) {
      ASSERT_EQ(live_at(step, peak.time_ns), highest);
      ASSERT_LT(live_at(step, peak.time_ns - 1), highest) << "the first such moment";
    }
  }
}

TEST(MemoryFlame, OfNothingIsEmpty) {
  const MemoryFlame flame = layout_flame(step_of({}));
  EXPECT_TRUE(flame.bands.empty());
  EXPECT_EQ(flame.highest_bytes, 0);
  EXPECT_EQ(find_peak({}).bytes, 0);
  EXPECT_EQ(find_in_flame(step_of({}), flame, kStart, 0).band, -1);
}

// A step of a large model: activations that are freed in reverse, beside many small and short ones;
// the worker has to answer before a user notices.
TEST(MemoryFlame, LaysOutAHundredThousandAllocationsQuickly) {
  std::mt19937_64 random(3);
  std::vector<StepAllocation> all;
  for (int i = 0; i < 10'000; ++i) {
    all.push_back(allocation(1 + 45 * i, 999'000 - 45 * i, 20'000'000 + 100 * i));
  }
  for (int i = 0; i < 90'000; ++i) {
    const std::int64_t start = 1 + static_cast<std::int64_t>(random() % 990'000);
    const auto length = 1 + static_cast<std::int64_t>(random() % 900);
    all.push_back(
        allocation(start, start + length, 1 + static_cast<std::int64_t>(random() % 9'000)));
  }
  const StepAllocations step = step_of(std::move(all));
  const std::clock_t before = std::clock();
  const MemoryFlame flame = layout_flame(step, {.rows = 20'000});
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
  EXPECT_EQ(flame.bands.size(), FlameOptions{}.most_bands);
  EXPECT_EQ(flame.small_count, 96'000);
  EXPECT_LT(seconds, 2.0) << "of this process; generous, as tests are built without optimization";
}

}  // namespace
}  // namespace shardlens::trace::timeline
