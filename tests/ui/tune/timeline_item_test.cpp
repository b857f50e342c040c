#include "ui/tune/timeline/timeline_item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui {

namespace {

TEST(BarLabel, IsWholeOrTheNumberAlone) {
  trace::CollectiveBar bar;
  bar.label = "bucket 3";
  bar.event.tag_kind = trace::TagKind::kBucket;
  bar.event.tag_index = 3;
  bar.event.bytes = 4 << 20;
  EXPECT_EQ(collective_label(bar).full, "bucket 3 · 4.00 MiB");
  EXPECT_EQ(collective_label(bar).brief, "3");
  bar.event.tag_kind = trace::TagKind::kUnit;
  bar.label = "blocks.11 forward gather, prefetched";
  EXPECT_EQ(collective_label(bar).full, bar.label);
  EXPECT_EQ(collective_label(bar).brief, "11");
  bar.label = "root reduce";
  EXPECT_EQ(collective_label(bar).brief, "");
}

}  // namespace

}  // namespace shardlens::ui
