#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/explore/explored_run.h"
#include "trace/explore/statistics/collective_tables.h"

namespace shardlens::trace::explore {

namespace {

using test::KnownRun;
using enum base::TimeClass;

// Of rank 0's all-reduces 10 of 18 ms lie under compute, of rank 1's 6 of 14 ms.
TEST(CollectiveClasses, AreThoseOfTheGreaterPartInTheRange) {
  const KnownRun run;
  auto explored = ExploredRun::open(run.path(), {});
  ASSERT_TRUE(explored);
  while (*(*explored)->work()) {
  }
  const auto snapshot = (*explored)->snapshot();
  const timeline::TimeRange whole{KnownRun::at(0, 0), KnownRun::at(3, 0), {}};
  for (const auto& [rank, expected] : {std::pair{0, kOverlapped}, std::pair{1, kExposed}}) {
    const auto classes = collective_classes(*snapshot, *snapshot->rank(rank), whole);
    ASSERT_EQ(classes.size(), 3u);
    EXPECT_THAT(classes, testing::Each(expected)) << rank;
    ASSERT_TRUE(snapshot->rank(rank)->exposure);
    EXPECT_EQ(classes, *snapshot->rank(rank)->exposure) << "as the scan in the background finds";
  }
  const timeline::TimeRange second{KnownRun::at(1, 0), KnownRun::at(2, 0), {}};
  EXPECT_THAT(collective_classes(*snapshot, *snapshot->rank(0), second),
              testing::ElementsAre(kExposed, kOverlapped, kExposed));
  EXPECT_THAT(collective_classes(*snapshot, *snapshot->rank(0), {5, 5, {}}),
              testing::Each(kExposed));
}

TEST(CollectiveClasses, AreTheSameBeforeAnyEventWasScanned) {
  const KnownRun run;
  auto explored = ExploredRun::open(run.path(), {});
  ASSERT_TRUE(explored);
  const auto snapshot = (*explored)->snapshot();
  ASSERT_TRUE(snapshot->rank(0)->has_all_rows);
  ASSERT_FALSE(snapshot->rank(0)->overview->is_complete(kFinestCellBits,
                                                        {KnownRun::at(0, 0), KnownRun::at(3, 0)}));
  const timeline::TimeRange whole{KnownRun::at(0, 0), KnownRun::at(3, 0), {}};
  EXPECT_THAT(collective_classes(*snapshot, *snapshot->rank(0), whole), testing::Each(kOverlapped));
  EXPECT_THAT(collective_classes(*snapshot, *snapshot->rank(1), whole), testing::Each(kExposed));
}

TEST(CollectiveClasses, ColourTheStatisticsOfARange) {
  const KnownRun run;
  const auto explorer = test::open_whole(run.path());
  const auto class_of = [&](std::vector<int> ranks) {
    const auto figures =
        explorer->statistics({KnownRun::at(0, 0), KnownRun::at(3, 0), std::move(ranks)});
    for (const timeline::RangeTable& table : figures->tables) {
      if (table.table != timeline::StatisticsTable::kCollectives) continue;
      return std::pair(table.rows.at(0).piece_class, table.rows.at(0).matched);
    }
    return std::pair(kIdle, std::int64_t{0});
  };
  EXPECT_EQ(class_of({0}), std::pair(kOverlapped, std::int64_t{3}));
  EXPECT_EQ(class_of({1}), std::pair(kExposed, std::int64_t{3}));
}

}  // namespace

}  // namespace shardlens::trace::explore
