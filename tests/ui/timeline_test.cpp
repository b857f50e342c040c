#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/ui/testing/sample_timeline.h"
#include "ui/tune/timeline/timeline_buckets.h"
#include "ui/tune/timeline/timeline_item.h"
#include "ui/tune/timeline/timeline_rows.h"
#include "ui/tune/timeline/timeline_view.h"

namespace shardlens::ui {

namespace {

SampleStep two_ranks() {
  SampleStep step;
  step.index = 7;
  step.bucket_bytes = {1 << 20, 2 << 20, 4 << 20};
  step.bucket_cap = 1 << 20;
  step.late_milliseconds = 2;
  return step;
}

TEST(TimelineView, FitsTheWholeStepUntilZoomed) {
  TimelineView view;
  view.set_extent(100e6);
  EXPECT_DOUBLE_EQ(view.start_ns(), 0);
  EXPECT_GE(view.end_ns(), 100e6);
  view.set_extent(200e6);
  EXPECT_GE(view.end_ns(), 200e6) << "a fitted view follows the step";
  view.zoom(0.5, 4);
  view.set_extent(100e6);
  EXPECT_FALSE(view.is_fitted());
  EXPECT_LT(view.span_ns(), 60e6);
}

TEST(TimelineView, ZoomsAtThePointer) {
  TimelineView view;
  view.set_extent(100e6);
  const double under_pointer = view.time_from_x(300, 0, 1000);
  view.zoom(0.3, 8);
  EXPECT_NEAR(view.time_from_x(300, 0, 1000), under_pointer, 1);
  EXPECT_NEAR(view.x_from_time(under_pointer, 0, 1000), 300, 0.01);
}

TEST(TimelineView, NeverLeavesTheStep) {
  TimelineView view;
  view.set_extent(100e6);
  view.zoom(0.5, 10);
  view.pan(-100);
  EXPECT_DOUBLE_EQ(view.start_ns(), 0);
  view.pan(100);
  EXPECT_LE(view.end_ns(), 102.1e6);
  view.zoom(0.5, 1e12);
  EXPECT_GE(view.span_ns(), 499);
  view.zoom(0.5, 1e-12);
  EXPECT_TRUE(view.is_fitted());
}

TEST(TimelineRows, UnfoldAsManyRanksAsFit) {
  std::vector<trace::RankTimeline> ranks(4);
  for (int i = 0; i < 4; ++i) ranks[static_cast<std::size_t>(i)].rank = i;
  const float one = RowHeights{}.unfolded();
  const auto rows = timeline_rows(ranks, 2 * one + 2 * RowHeights{}.folded + 1, 1, {});
  EXPECT_TRUE(rows.ranks[0].unfolded);
  EXPECT_TRUE(rows.ranks[1].unfolded);
  EXPECT_FALSE(rows.ranks[2].unfolded);
  const auto wished = timeline_rows(ranks, 2 * one, 1, {{{0, false}, {3, true}}, false});
  EXPECT_FALSE(wished.ranks[0].unfolded);
  EXPECT_TRUE(wished.ranks[3].unfolded);
}

TEST(TimelineRows, NeverOverlap) {
  std::vector<trace::RankTimeline> ranks(3);
  for (const float scale : {1.0f, 1.25f, 1.5f}) {
    const auto rows = timeline_rows(ranks, 200 * scale, scale, {});
    float bottom = 0;
    for (const RankRows& row : rows.ranks) {
      EXPECT_GE(row.y, bottom);
      bottom = row.y + row.height;
      if (!row.unfolded) continue;
      EXPECT_GE(row.compute, row.phases + rows.heights.phases * scale);
      EXPECT_GE(row.communication, row.compute + rows.heights.compute * scale);
      EXPECT_GE(row.buckets, row.communication + rows.heights.communication * scale);
      EXPECT_GE(row.ribbon, row.buckets + rows.heights.buckets * scale);
      EXPECT_LE(row.ribbon + rows.heights.ribbon * scale, bottom + 1);
    }
    EXPECT_FLOAT_EQ(rows.height, bottom);
  }
}

TEST(PixelBars, GroupWhatIsThinnerThanAPixelAndKeepClassesApart) {
  std::vector<trace::Bar> bars;
  for (int i = 0; i < 10000; ++i) {
    bars.push_back({i * 10'000, i * 10'000 + 9'000,
                    i < 5000 ? trace::TimeClass::kCompute : trace::TimeClass::kOptimizer, 0, "",
                    -1});
  }
  TimelineView view;
  view.set_extent(100e6);
  const auto merged = pixel_bars(bars, view, 0, 1000);
  EXPECT_GT(merged.size(), 50u) << "a dense row keeps its texture";
  EXPECT_LT(merged.size(), 300u);
  int count = 0;
  for (const PixelBar& group : merged) {
    count += group.count;
    EXPECT_EQ(group.bar_class, bars[group.index].bar_class);
    EXPECT_EQ(group.index < 5000, group.index + static_cast<std::size_t>(group.count) <= 5000);
  }
  EXPECT_EQ(count, 10'000);
  view.show(0, 100'000);
  const auto apart = pixel_bars(bars, view, 0, 1000);
  EXPECT_GE(apart.size(), 10u);
  EXPECT_LE(apart.size(), 12u);
}

TEST(PixelBars, KeepABarThatCanBeSeenApartFromThinOnes) {
  const std::vector<trace::Bar> bars{
      {0, 500'000, trace::TimeClass::kCompute, 0, "thin", -1},
      {500'000, 1'000'000, trace::TimeClass::kCompute, 0, "thin", -1},
      {1'000'000, 20'000'000, trace::TimeClass::kCompute, 0, "wide", -1},
      {20'000'000, 20'400'000, trace::TimeClass::kCompute, 0, "thin", -1}};
  TimelineView view;
  view.set_extent(100e6);
  const auto drawn = pixel_bars(bars, view, 0, 100);
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0].count, 2);
  EXPECT_EQ(drawn[1].index, 2u);
  EXPECT_EQ(drawn[1].count, 1);
}

TEST(TimelineRows, GetLowerWhereNotEvenOneRankFits) {
  std::vector<trace::RankTimeline> ranks(2);
  ranks[1].rank = 1;
  const float one = RowHeights{}.unfolded();
  const auto lower = timeline_rows(ranks, one * 0.85f, 1, {});
  ASSERT_TRUE(lower.ranks[0].unfolded);
  EXPECT_LE(lower.ranks[0].ribbon + lower.heights.ribbon, one * 0.85f + 1);
  const auto folded = timeline_rows(ranks, one * 0.5f, 1, {});
  EXPECT_FALSE(folded.ranks[0].unfolded);
}

TEST(ItemDetails, TellWaitingFromTransferring) {
  const trace::StepTimeline timeline = sample_timeline(two_ranks());
  TimelineItem item;
  item.kind = TimelineItem::Kind::kCollective;
  item.collective = timeline.ranks[0].collectives[1];
  item.collective.start_ns = 10'000'000;
  item.collective.waits_until_ns = 13'600'000;
  item.collective.end_ns = 24'900'000;
  item.collective.event.bytes = 2 << 20;
  const ItemDetails details = item_details(item, 7);
  EXPECT_EQ(details.title, "bucket 1");
  EXPECT_EQ(details.rows[0].value, "2.00 MiB");
  EXPECT_EQ(details.rows[1].value, "3.60 ms");
  EXPECT_EQ(details.rows[2].value, "11.3 ms");
  EXPECT_EQ(details.where, "Rank 0, step 7");
}

TEST(ItemDetails, TellNoWaitWhereClocksAreNotKnown) {
  TimelineItem item;
  item.kind = TimelineItem::Kind::kCollective;
  item.collective = sample_timeline(two_ranks()).ranks[0].collectives[1];
  item.collective.waits_until_ns.reset();
  item.collective.wait_doubt = trace::WaitDoubt::kClocksUnknown;
  const ItemDetails details = item_details(item, 7);
  EXPECT_EQ(details.rows[1].name, "Waiting for the last rank");
  EXPECT_EQ(details.rows[1].value, "not known");
  EXPECT_TRUE(details.why_unknown.starts_with("Waiting is not known: nothing tells"));
  for (const auto& row : details.rows) {
    EXPECT_NE(row.name, "Transferring");
    EXPECT_NE(row.name, "Size ÷ transfer");
  }
}

SampleStep units(int groups) {
  SampleStep step;
  step.blocks = 4;
  step.groups = groups;
  return step;
}

const trace::CollectiveBar& bar_named(const trace::RankTimeline& rank, const std::string& label) {
  for (const auto& bar : rank.collectives) {
    if (bar.label == label) return bar;
  }
  throw std::runtime_error("no bar " + label);
}

std::string value_of(const ItemDetails& details, const std::string& name) {
  for (const auto& row : details.rows) {
    if (row.name == name) return row.value;
  }
  return "";
}

TEST(TimelineUnits, KnowWhatAGatherIsFor) {
  const auto rank = sample_timeline(units(1)).ranks[0];
  const auto& forward = bar_named(rank, "blocks.1 forward gather");
  const auto& needed = bar_named(rank, "blocks.3 backward gather");
  const auto& ahead = bar_named(rank, "blocks.1 backward gather, prefetched");
  const auto& reduce = bar_named(rank, "blocks.1 reduce");
  EXPECT_TRUE(is_gather(forward) && is_gather(needed) && is_gather(ahead));
  EXPECT_FALSE(is_gather(reduce) || is_backward(reduce) || is_prefetched(reduce));
  EXPECT_FALSE(is_backward(forward));
  EXPECT_TRUE(is_backward(needed) && is_backward(ahead));
  EXPECT_FALSE(is_prefetched(forward) || is_prefetched(needed));
  EXPECT_TRUE(is_prefetched(ahead));
}

TEST(TimelineUnits, AreReducedWithinTheirGroupAndBetweenReplicas) {
  auto rank = sample_timeline(units(1)).ranks[0];
  const auto mark = std::ranges::find(rank.ready, "blocks.1", &trace::ReadyMark::name);
  ASSERT_NE(mark, rank.ready.end());
  ASSERT_EQ(reductions_of(rank, *mark).size(), 1u);
  auto reduce = *reductions_of(rank, *mark).front();
  const auto add = [&](int group) {
    reduce.start_ns = reduce.end_ns;
    reduce.end_ns += 1'000;
    reduce.event.process_group = group;
    rank.collectives.push_back(reduce);
  };
  const int own = reduce.event.process_group;
  add(own);  // of the next micro-batch
  EXPECT_EQ(reductions_of(rank, *mark).size(), 1u);
  rank.collectives.pop_back();
  add(own + 1);
  add(own);
  const auto bars = reductions_of(rank, *mark);
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0]->event.process_group, own);
  EXPECT_EQ(bars[1]->event.process_group, own + 1);
}

TEST(TimelineUnits, TellWholeAndShardWaitAndTransferAndWhetherTheyWerePrefetched) {
  const auto rank = sample_timeline(units(1)).ranks[0];
  TimelineItem item;
  item.kind = TimelineItem::Kind::kCollective;
  item.collective = bar_named(rank, "blocks.1 backward gather, prefetched");
  item.start_ns = static_cast<double>(item.collective.start_ns);
  item.end_ns = static_cast<double>(item.collective.end_ns);
  const ItemDetails gather = item_details(item, 7);
  EXPECT_EQ(gather.title, "blocks.1 backward gather, prefetched");
  EXPECT_EQ(value_of(gather, "Unit, gathered"), "7.00 MiB");
  EXPECT_EQ(value_of(gather, "Shard of a rank"), "3.50 MiB");
  EXPECT_EQ(value_of(gather, "Prefetched"), "yes");
  EXPECT_NE(value_of(gather, "Waiting for the last rank"), "");
  EXPECT_NE(value_of(gather, "Transferring"), "");
  EXPECT_EQ(gather.note, "Parameters: blocks.1.attn.weight, blocks.1.attn.bias, … 3 in all");
  item.collective = bar_named(rank, "blocks.1 forward gather");
  EXPECT_EQ(value_of(item_details(item, 7), "Prefetched"), "no");
  item.collective = bar_named(rank, "blocks.1 reduce");
  EXPECT_EQ(value_of(item_details(item, 7), "Prefetched"), "") << "only gathers are";
  item.kind = TimelineItem::Kind::kReady;
  item.ready = rank.ready.front();
  EXPECT_EQ(item_details(item, 7).title, "Blocks.3 is ready");
}

TEST(TimelineRows, HaveRoomForALaneOfEachProcessGroup) {
  const auto one = sample_timeline(units(1)).ranks, two = sample_timeline(units(2)).ranks;
  ASSERT_EQ(one[0].lanes.size(), 1u);
  ASSERT_EQ(two[0].lanes.size(), 2u);
  for (const float scale : {1.0f, 1.5f}) {
    const auto plain = timeline_rows(one, 600 * scale, scale, {});
    const auto lanes = timeline_rows(two, 600 * scale, scale, {});
    const auto& heights = lanes.heights;
    EXPECT_GE(lanes.ranks[0].buckets, lanes.ranks[0].communication +
                                          2 * std::round(heights.communication * scale) +
                                          std::round(heights.lane_gap * scale));
    EXPECT_LT(plain.ranks[0].buckets - plain.ranks[0].communication,
              2 * std::round(plain.heights.communication * scale));
    EXPECT_LE(lanes.height, 600 * scale);
  }
}

TEST(TimelineRows, OfManyRanksShowThoseThatComputeLongestAndFoldTheRest) {
  std::vector<trace::RankTimeline> ranks(256);
  for (int i = 0; i < 256; ++i) {
    ranks[static_cast<std::size_t>(i)].rank = i;
    ranks[static_cast<std::size_t>(i)].breakdown.compute_ns = 1000 + i % 100;
  }
  ranks[7].breakdown.compute_ns = 5000;
  const TimelineRows rows = timeline_rows(ranks, 600, 1, {});
  ASSERT_EQ(rows.ranks.size(), kExtremeRankRows);
  EXPECT_EQ(rows.ranks.front().rank, 7);
  EXPECT_EQ(rows.ranks.front().index, 7u);
  EXPECT_EQ(rows.ranks[1].rank, 99);
  EXPECT_EQ(rows.rest, 256 - kExtremeRankRows);
  EXPECT_DOUBLE_EQ(rows.rest_least_ns, 1000);
  EXPECT_LE(rows.height, 600) << "nothing has to be scrolled to";
  EXPECT_EQ(timeline_rows(ranks, 600, 1, {{}, true}).ranks.size(), 256u);
  ranks.resize(24);
  EXPECT_EQ(timeline_rows(ranks, 600, 1, {}).ranks.front().rank, 0) << "few ranks stand by number";
  EXPECT_EQ(timeline_rows(ranks, 600, 1, {}).rest, 0u);
}

}  // namespace

}  // namespace shardlens::ui
