#include "trace/explore/kept_exploration.h"

#include <gtest/gtest.h>

namespace shardlens::trace::explore {
namespace {

OverviewRows some_rows() {
  OverviewRows rows;
  rows.cell_bits = kFinestCellBits + 1;
  rows.lanes[{3, model::EventKind::kKernel, 0}].put(1'000, std::vector<OverviewCell>{{5, 6, 7, 8}});
  rows.classes.put(999, std::vector<base::TimeByClass>(2));
  return rows;
}

TEST(KeptOverview, ComesBackAsItWas) {
  const auto rows = unpacked_overview(packed_overview(some_rows()));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->cell_bits, kFinestCellBits + 1);
  EXPECT_EQ(rows->lanes.at({3, model::EventKind::kKernel, 0}).first, 1'000);
  EXPECT_EQ(rows->lanes.at({3, model::EventKind::kKernel, 0}).cells,
            (std::vector<OverviewCell>{{5, 6, 7, 8}}));
  EXPECT_EQ(rows->classes.first, 999);
  EXPECT_EQ(rows->classes.cells.size(), 2u);
}

// The file lies beside a run that may come from anywhere.
TEST(KeptOverview, CellsThatNoRunHasAreRefused) {
  EXPECT_FALSE(unpacked_overview("nonsense"));
  for (const int bits : {-1, 0, kFinestCellBits - 1, kLongestCellBits + 1, 64, 1'000}) {
    OverviewRows rows = some_rows();
    rows.cell_bits = bits;
    EXPECT_FALSE(unpacked_overview(packed_overview(rows))) << bits;
  }
  for (const std::int64_t first : {INT64_MIN, INT64_MAX, std::int64_t{1} << 42}) {
    OverviewRows rows = some_rows();
    rows.classes.first = first;
    EXPECT_FALSE(unpacked_overview(packed_overview(rows))) << first;
    rows = some_rows();
    rows.lanes.begin()->second.first = first;
    EXPECT_FALSE(unpacked_overview(packed_overview(rows))) << first;
  }
}

}  // namespace
}  // namespace shardlens::trace::explore
