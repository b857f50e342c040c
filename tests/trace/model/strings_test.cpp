#include "trace/model/strings.h"

#include <gtest/gtest.h>

namespace shardlens::trace::model {
namespace {

TEST(StringTable, KeepsTheStringsOfEachRankApart) {
  StringTable table;
  table.add({.rank = 0, .id = 1, .text = "aten::mm"});
  table.add({.rank = 1, .id = 1, .text = "aten::add"});
  EXPECT_EQ(table.get(0, 1), "aten::mm");
  EXPECT_EQ(table.get(1, 1), "aten::add");
}

TEST(StringTable, AnswersUnknownIdsAndRanksWithTheEmptyText) {
  StringTable table;
  table.add({.rank = 0, .id = 3, .text = "x"});
  EXPECT_EQ(table.get(0, 0), "");
  EXPECT_EQ(table.get(0, 2), "");
  EXPECT_EQ(table.get(0, 4), "");
  EXPECT_EQ(table.get(-1, 3), "");
  EXPECT_EQ(table.get(7, 3), "");
}

TEST(StringTable, IgnoresRowsOfADamagedFileInsteadOfAllocatingForThem) {
  StringTable table;
  table.add({.rank = 0, .id = 0xfffffff0u, .text = "x"});
  table.add({.rank = 2'000'000'000, .id = 1, .text = "x"});
  table.add({.rank = -5, .id = 1, .text = "x"});
  EXPECT_EQ(table.get(0, 0xfffffff0u), "");
}

}  // namespace
}  // namespace shardlens::trace::model
