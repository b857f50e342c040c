#include "trace/timeline/values/drawn_event.h"

#include <gtest/gtest.h>

namespace shardlens::trace::timeline {
namespace {

TEST(DrawnEvent, IsWhereItWasExactlyWhereItsTimeIsPlausible) {
  for (const int bits : {40, 60, 61, 62}) {
    const std::int64_t power = std::int64_t{1} << bits;
    for (const std::int64_t time : {power - 1, power, power + 1}) {
      const bool is_in_reach = drawn_instant(time) == time && time < base::kLatestTimeNs;
      EXPECT_EQ(base::is_plausible_time(time, time), is_in_reach) << time;
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::timeline
