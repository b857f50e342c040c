#include "trace/store/lod/lod_summary.h"

#include <gtest/gtest.h>

#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_ribbon.h"
#include "trace/store/lod/lod_stretches.h"

namespace shardlens::trace {
namespace {

constexpr std::int64_t kCell = lod_cell_ns(0);
constexpr std::int64_t kTile = std::int64_t{1} << lod_tile_bits(0);

TEST(LodSummary, CountsWhereEventsBeginAndMeasuresTheirUnion) {
  const std::vector<LodEvent> events{{-50, 30, 1},       // from the tile before
                                     {10, 100, 2},       // overlaps it
                                     {kCell, kCell, 3},  // no length
                                     {kCell + 5, 3 * kCell, 4}};
  const LodTile tile = summarize(0, events);
  EXPECT_EQ(tile.cells[0], (LodCell{100, 100, 1, 90, 2}));
  EXPECT_EQ(tile.cells[1], (LodCell{kCell - 5, kCell - 5, 2, 2 * kCell - 5, 4}));
  EXPECT_EQ(tile.cells[2], (LodCell{kCell, kCell, 0, 2 * kCell - 5, 4}));
  EXPECT_EQ(tile.cells[3], LodCell());
  EXPECT_EQ(summarize(-1, events).cells[255], (LodCell{50, 50, 1, 80, 1}));
}

TEST(LodSummary, OfEquallyLongEventsKeepsTheSameInAnyOrder) {
  EXPECT_EQ(summarize(0, std::vector<LodEvent>{{5, 10, 7}, {5, 10, 3}}),
            summarize(0, std::vector<LodEvent>{{5, 10, 3}, {5, 10, 7}}));
}

TEST(LodSummary, MergesFourCellsIntoOne) {
  LodTile parent = blank_lod_tile(1, 0, false);
  LodTile child = blank_lod_tile(0, 2, false);
  child.cells[4] = {10, 10, 1, 400, 9};
  child.cells[7] = {30, 30, 2, 25, 4};
  merge_part(parent, child);
  EXPECT_EQ(parent.cells[129], (LodCell{40, 30, 3, 400, 9}));
  EXPECT_EQ(parent.cells[128], LodCell());
}

TEST(LodSummary, ALongEventCoversWholeCellsOnly) {
  LodTile tile = blank_lod_tile(1, 0, false);
  cover(tile, {5, 4 * 4 * kCell - 1, 8});
  EXPECT_EQ(tile.cells[0], LodCell());
  EXPECT_EQ(tile.cells[1], (LodCell{4 * kCell, kCell, 0, 16 * kCell - 6, 8}));
  EXPECT_EQ(tile.cells[3], LodCell());
}

TEST(LodEvents, HaveNoLengthWhereTheirTimesAreDamage) {
  EXPECT_EQ(lod_event(100, -5, 1), (LodEvent{100, 100, 1}));
  EXPECT_EQ(lod_event(100, INT64_MAX, 1), (LodEvent{100, 100, 1}));
  EXPECT_EQ(lod_event(INT64_MAX - 3, 10, 1), (LodEvent{INT64_MAX - 3, INT64_MAX - 3, 1}));
  EXPECT_EQ(lod_event(100, kLongestRowNs, 1).duration_ns(), kLongestRowNs);
  EXPECT_EQ(lod_event_between(INT64_MIN, INT64_MAX, 1).duration_ns(), 0);
  EXPECT_EQ(lod_event_between(9, 4, 1), (LodEvent{9, 9, 1}));
  // Their tiles end behind the last number.
  const LodTile last =
      summarize(lod_tile_at(0, INT64_MAX), std::vector<LodEvent>{{INT64_MAX - 3, INT64_MAX, 1}});
  EXPECT_EQ(last.cells[255], (LodCell{3, 3, 1, 3, 1}));
}

TEST(LodEvents, NameCollectivesByTagOrFunction) {
  Collective row;
  row.function = CollectiveFunction::kAllGather;
  EXPECT_EQ(lod_name_text(lod_name_of(row)), "all_gather");
  row.tag_kind = TagKind::kBucket;
  row.tag_index = 12;
  EXPECT_EQ(lod_name_text(lod_name_of(row)), "bucket 12");
  row.tag_kind = TagKind::kUnit;
  EXPECT_EQ(lod_name_text(lod_name_of(row)), "unit 12");
  row.tag_name = 44;
  EXPECT_EQ(lod_name_of(row), 44u);
  EXPECT_FALSE(is_lod_name(44));
  row.tag_kind = TagKind::kNamed;
  EXPECT_EQ(lod_name_of(row), 44u);
}

TEST(LodRibbon, CutsTimeIntoClasses) {
  const Intervals compute{{10, 30}, {50, 60}}, communication{{20, 40}}, copies{{35, 45}},
      optimizer{{48, 70}};
  const ActivitySets sets{compute, communication, copies, optimizer};
  const LodTile tile = ribbon_tile(0, sets, {{0, 100}});
  EXPECT_EQ(tile.classes[0], (TimeByClass{10, 10, 10, 10, 5, 55}));
  EXPECT_EQ(tile.classes[1], TimeByClass());
  EXPECT_EQ(ribbon_tile(0, sets, {{0, 60}, {80, 100}}).classes[0],
            (TimeByClass{10, 10, 10, 10, 5, 35}));
}

TEST(LodStretches, JoinWhatIsNearAndTellWhatIsNew) {
  LodStretches stretches;
  Intervals added;
  stretches.add(0, 10);
  stretches.add(3 * kLodGapNs, 3 * kLodGapNs + 5);
  EXPECT_EQ(stretches.all().size(), 2u);
  stretches.add(kLodGapNs, kLodGapNs + 1, &added);
  EXPECT_EQ(added, (Intervals{{10, kLodGapNs + 1}}));
  added.clear();
  stretches.add(2 * kLodGapNs, 2 * kLodGapNs + 1, &added);
  EXPECT_EQ(stretches.all(), (Intervals{{0, 3 * kLodGapNs + 5}}));
  EXPECT_EQ(added, (Intervals{{kLodGapNs + 1, 3 * kLodGapNs}}));
  added.clear();
  stretches.add(5, 7, &added);
  EXPECT_TRUE(added.empty());
}

// As many as a damaged file may have.
TEST(LodStretches, StayFew) {
  LodStretches stretches;
  for (std::int64_t i = 0; i < 10'000; ++i) stretches.add(i * 2 * kLodGapNs, i * 2 * kLodGapNs);
  EXPECT_LE(stretches.all().size(), 4096u);
  EXPECT_EQ(stretches.all().front().start_ns, 0);
}

static_assert(kTile == 256 * kCell);

}  // namespace
}  // namespace shardlens::trace
