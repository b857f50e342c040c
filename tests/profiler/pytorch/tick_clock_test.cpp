#include "profiler/pytorch/tick_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace shardlens::profiler::pytorch {
namespace {

constexpr std::int64_t kTestNs = 200'000'000;

// Readings between two of the wall clock that are close together: what the machine does meanwhile
// may take any time.
TEST(TickClock, IsTheWallClock) {
  TickClock clock;
  const std::int64_t end = recorder::Recorder::now_ns() + kTestNs;
  std::vector<std::int64_t> errors;
  for (std::int64_t after = 0; after < end;) {
    const std::int64_t before = recorder::Recorder::now_ns();
    const std::int64_t now = clock.now_ns();
    after = recorder::Recorder::now_ns();
    if (after - before > 2'000) continue;
    errors.push_back(std::max({before - now, now - after, std::int64_t{0}}));
  }
  ASSERT_GT(errors.size(), 1'000u);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 200);
  EXPECT_LT(errors[errors.size() * 99 / 100], 2'000);
}

TEST(TickClock, NeverGoesBack) {
  TickClock clock;
  std::int64_t last = 0;
  const std::int64_t end = recorder::Recorder::now_ns() + kTestNs;
  while (last < end) {
    const std::int64_t now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace shardlens::profiler::pytorch
