#include "trace/base/side_by_side.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/no_more_threads.h"

namespace shardlens::trace::base {
namespace {

TEST(SideBySide, FewerThreadsDoTheSameWhereTheSystemHasNoMore) {
  std::vector<int> visits(8);
  {
    const test::NoMoreThreads none;
    for_each_side_by_side(8, visits.size(), [&](int, std::size_t i) { ++visits[i]; });
  }
  EXPECT_EQ(visits, std::vector<int>(8, 1));
}

}  // namespace
}  // namespace shardlens::trace::base
