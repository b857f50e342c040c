#include "tests/app/lessons/figures_in_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::app::lessons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FiguresInText, AreNumbersWithUnitsOrDecimals) {
  EXPECT_THAT(
      figures_in("Step 16 of an H200 takes 251.3 ms, 8 buckets; caps of 25, 4 and 1 MiB. At "
                 "0.2 of it, buckets 0 to 6 are 80 % green"),
      ElementsAre("251.3 ms", "8 buckets", "25 MiB", "4 MiB", "1 MiB", "0.2 ", "80 %"));
  EXPECT_THAT(figures_in("In 3 steps, 2 msgs"), IsEmpty());
}

}  // namespace
}  // namespace shardlens::app::lessons
