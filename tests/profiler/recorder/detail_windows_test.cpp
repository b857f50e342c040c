#include "profiler/recorder/detail_windows.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::recorder {
namespace {

TEST(DetailWindows, ContainWhatLiesBetweenTheirBeginAndTheirEnd) {
  DetailWindows windows;
  EXPECT_FALSE(windows.contains(0));
  windows.open(100);
  windows.open(150);  // it is open already
  EXPECT_FALSE(windows.contains(99));
  EXPECT_TRUE(windows.contains(100));
  EXPECT_TRUE(windows.contains(1'000'000)) << "until it is closed";
  windows.close(200);
  windows.close(250);
  EXPECT_TRUE(windows.contains(199));
  EXPECT_FALSE(windows.contains(200));
}

TEST(DetailWindows, RememberTheLastOnesOfMany) {
  DetailWindows windows;
  const auto kept = static_cast<std::int64_t>(DetailWindows::kKept);
  const std::int64_t count = 3 * kept + 7;
  for (std::int64_t i = 0; i < count; ++i) {
    windows.open(100 * i);
    windows.close(100 * i + 10);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_kept = i >= count - kept;
    EXPECT_EQ(windows.contains(100 * i), is_kept) << i;
    EXPECT_EQ(windows.contains(100 * i + 9), is_kept) << i;
    EXPECT_FALSE(windows.contains(100 * i + 10)) << i;
    EXPECT_FALSE(windows.contains(100 * i - 1)) << i;
  }
}

}  // namespace
}  // namespace shardlens::profiler::recorder
