#include "trace/explore/find/row_finder.h"

#include <gtest/gtest.h>

namespace shardlens::trace::explore {
namespace {

TEST(RowFinder, FindsACollectiveThatLateOnesMoved) {
  RankRows rows;
  rows.collectives.ids = {7, 9, 8};
  analysis::CollectivePart part;
  part.index = 1;
  part.row = 9;
  EXPECT_EQ(index_of(rows, part), 1u);
  part.row = 8;
  EXPECT_EQ(index_of(rows, part), 2u) << "one came before it since";
  part.row = 10;
  EXPECT_EQ(index_of(rows, part), std::nullopt) << "not read yet";
  part.index = 3;
  part.row = 7;
  EXPECT_EQ(index_of(rows, part), 0u);
}

}  // namespace
}  // namespace shardlens::trace::explore
