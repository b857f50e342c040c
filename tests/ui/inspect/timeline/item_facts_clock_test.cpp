#include <gtest/gtest.h>

#include <vector>

#include "trace/analysis/steps/host_clocks.h"
#include "ui/inspect/timeline/item_facts.h"

namespace shardlens::ui::inspect {

namespace {

std::vector<trace::timeline::TimelineRank> ranks(std::vector<std::int64_t> errors,
                                                 const char* host) {
  std::vector<trace::timeline::TimelineRank> all;
  for (const std::int64_t error : errors) {
    trace::timeline::TimelineRank rank;
    rank.rank = static_cast<int>(all.size());
    rank.host = host;
    rank.clock_error_ns = error;
    all.push_back(rank);
  }
  return all;
}

TEST(ClockText, SaysWhatIsKnown) {
  EXPECT_EQ(clocks_text(ranks({0, 0, 0}, "node-1")), "All on node-1: one clock.");
  EXPECT_EQ(clocks_text(ranks({0, 12'500, 4'000}, "a")),
            "Rank 1 is the least certain. Its clock and that of rank 0 differ by 12.5 µs at most: "
            "the collectives of both say so.");
  EXPECT_EQ(clock_text(ranks({0, trace::analysis::kUnknownClockError}, "")[1], ranks({0}, "")[0]),
            "Nothing tells how far its clock is from that of rank 0: no collective connects them. "
            "Its host was not recorded; if it is the same one, so is the clock.");
  EXPECT_EQ(clock_text(ranks({0, 0}, "a")[1], ranks({0}, "a")[0]), "The same clock as rank 0.");
}

TEST(ClockText, IsSilentWhileNothingIsKnown) {
  EXPECT_EQ(clocks_text(ranks({-1, -1}, "a")), "");
  EXPECT_EQ(clocks_text(ranks({0}, "a")), "");
  EXPECT_EQ(clock_text(ranks({0, 5}, "a")[0], ranks({0}, "a")[0]), "") << "the first one itself";
}

}  // namespace

}  // namespace shardlens::ui::inspect
