#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/cupti/activity_join.h"
#include "tests/profiler/cupti/fake_sink.h"

namespace shardlens::profiler::cupti {
namespace {

using Part = MarkerActivity::Part;
using Range = FakeSink::Range;

MarkerActivity marker(Part part, std::uint32_t id, std::int64_t time_ns,
                      std::string_view name = "") {
  return {part, id, 5, time_ns, name, ""};
}

TEST(MarkerJoin, GivesOverlappingRangesRowsOfTheirOwn) {
  FakeSink sink;
  MarkerJoin join(sink);
  join.add(marker(Part::kStart, 1, 10, "a"));
  join.add(marker(Part::kStart, 2, 20, "b"));
  join.add(marker(Part::kEnd, 1, 30));
  join.add(marker(Part::kStart, 3, 40, "c"));  // a's row is free again
  join.add(marker(Part::kEnd, 2, 50));
  join.add(marker(Part::kEnd, 3, 60));
  EXPECT_EQ(sink.ranges,
            (std::vector<Range>{{"a", 0, 10, 30}, {"b", 1, 20, 50}, {"c", 0, 40, 60}}));
}

TEST(MarkerJoin, PutsAMarkBelowTheOpenRanges) {
  FakeSink sink;
  MarkerJoin join(sink);
  join.add(marker(Part::kStart, 1, 10, "a"));
  join.add(marker(Part::kMark, 2, 15, "here"));
  EXPECT_EQ(sink.ranges, (std::vector<Range>{{"here", 1, 15, 15}}));
}

TEST(MarkerJoin, KeepsThreadsApart) {
  FakeSink sink;
  MarkerJoin join(sink);
  join.add(marker(Part::kStart, 1, 10, "a"));
  MarkerActivity other = marker(Part::kStart, 2, 12, "b");
  other.thread = 6;
  join.add(other);
  join.add(marker(Part::kEnd, 2, 20));  // ends carry the thread that ended it
  EXPECT_EQ(sink.ranges, (std::vector<Range>{{"b", 0, 12, 20}}));
}

TEST(MarkerJoin, CountsEndsWithoutAStartAndTimesThatCannotBe) {
  FakeSink sink;
  MarkerJoin join(sink);
  join.add(marker(Part::kEnd, 1, 10));
  join.add(marker(Part::kStart, 2, 0, "never"));
  join.add(marker(Part::kStart, 3, 50, "backwards"));
  join.add(marker(Part::kEnd, 3, 40));
  EXPECT_EQ(sink.no_counterpart, 1);
  EXPECT_EQ(sink.bad, 2);
  EXPECT_TRUE(sink.ranges.empty());
}

TEST(MarkerJoin, DeeperRangesThanAnEventCanTellShareTheLastRow) {
  FakeSink sink;
  MarkerJoin join(sink);
  for (std::uint32_t i = 0; i < 300; ++i) join.add(marker(Part::kStart, i, 10 + i, "deep"));
  for (std::uint32_t i = 300; i-- > 0;) join.add(marker(Part::kEnd, i, 1'000 + 300 - i));
  ASSERT_EQ(sink.ranges.size(), 300u);
  EXPECT_EQ(sink.ranges.front().depth, RangeActivity::kMostDepth);
  EXPECT_EQ(sink.ranges.back().depth, 0);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
