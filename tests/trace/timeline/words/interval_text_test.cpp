#include "trace/timeline/words/interval_text.h"

#include <gtest/gtest.h>

namespace shardlens::trace::timeline {
namespace {

TEST(IntervalText, StandsBehindItsMean) {
  EXPECT_EQ(spread_text(404e6, 12.5e6, in_unit("ms")), "± 12.5");
  EXPECT_EQ(spread_text(44.5e6, 44.5e6, in_unit("ms")), "± 44.5");
}

TEST(IntervalText, EndsAtZero) {
  EXPECT_EQ(spread_text(44.5e6, 60.1e6, in_unit("ms")), "(0 to 104.6)");
  EXPECT_EQ(duration_range_text(-57.9e6, 310.7e6), "0 to 310.7 ms");
}

TEST(IntervalText, HasTheUnitOfItsEnd) {
  EXPECT_EQ(duration_range_text(186.2e6, 310.7e6), "186.2 to 310.7 ms");
  EXPECT_EQ(duration_range_text(0.9e9, 1.25e9), "0.90 to 1.25 s");
}

}  // namespace
}  // namespace shardlens::trace::timeline
