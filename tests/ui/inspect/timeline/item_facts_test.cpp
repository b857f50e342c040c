#include "ui/inspect/timeline/item_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/timeline/pieces/piece_folder.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::int64_t kStart = 1'000'000'000;

trace::timeline::TimelineRows one_row(trace::timeline::RowKind kind) {
  trace::timeline::TimelineRows rows;
  rows.start_ns = kStart;
  rows.end_ns = kStart + 100'000'000;
  rows.rows.resize(2);
  trace::timeline::TimelineRow& row = rows.rows.back();
  row.id = 1;
  row.rank = 0;
  row.kind = kind;
  row.label = "All-reduce · world";
  rows.steps.push_back({7, 0, kStart, rows.end_ns});
  return rows;
}

constexpr trace::analysis::CallWait kWaited{3'600'000, 11'300'000, false,
                                            trace::analysis::WaitDoubt::kNone};

RowItem collective(const trace::analysis::CallWait& wait = {}) {
  RowItem item;
  item.row = 1;
  item.name = "bucket 1";
  item.collective.emplace();
  item.collective->function = item.collective->executed =
      trace::model::CollectiveFunction::kAllReduce;
  item.collective->tag_kind = trace::model::TagKind::kBucket;
  item.collective->tag_index = 1;
  item.collective->bytes = 2 << 20;
  item.collective->start_ns = kStart + 10'000'000;
  item.collective->wait = wait;
  trace::timeline::Piece& piece = item.piece.emplace();
  // The second of two parts.
  piece.start_ns = kStart + 20'000'000;
  piece.end_ns = kStart + 24'900'000;
  piece.longest_ns = 14'900'000;
  if (wait.wait_ns) piece.latest_start_ns = item.collective->start_ns + *wait.wait_ns;
  piece.ref = {trace::timeline::EventTableKind::kCollective, 0, 3, 0};
  return item;
}

ItemFacts facts_of(const RowItem& item,
                   trace::timeline::RowKind kind = trace::timeline::RowKind::kCommunication) {
  const trace::timeline::TimelineRows rows = one_row(kind);
  return item_facts(rows, StepIndex(rows), item);
}

std::string value_of(const ItemFacts& facts, const std::string& name) {
  const auto row = std::ranges::find(facts.rows, name, &ItemFacts::Row::name);
  return row == facts.rows.end() ? "" : row->value;
}

bool notes(const ItemFacts& facts, const std::string& beginning) {
  return std::ranges::any_of(facts.notes,
                             [&](const auto& note) { return note.starts_with(beginning); });
}

TEST(ItemFacts, TellWaitingFromTransferringOfTheWholeCollective) {
  const ItemFacts facts = facts_of(collective(kWaited));
  EXPECT_EQ(facts.title, "bucket 1");
  EXPECT_EQ(value_of(facts, "Size"), "2.00 MiB");
  EXPECT_EQ(value_of(facts, "Duration"), "14.9 ms");
  EXPECT_EQ(value_of(facts, "Waiting for the last rank"), "3.60 ms");
  EXPECT_EQ(value_of(facts, "Transferring"), "11.3 ms");
  EXPECT_NE(value_of(facts, "Size ÷ transfer"), "");
  EXPECT_NE(value_of(facts, "In step 7"), "");
  EXPECT_TRUE(notes(facts, "rank 0 · All-reduce"));
}

TEST(ItemFacts, SayWhyAWaitIsNotKnown) {
  const ItemFacts facts =
      facts_of(collective({{}, {}, false, trace::analysis::WaitDoubt::kClocksUnknown}));
  EXPECT_EQ(value_of(facts, "Waiting for the last rank"), "not known");
  EXPECT_EQ(value_of(facts, "Transferring"), "");
  EXPECT_EQ(value_of(facts, "Size ÷ transfer"), "");
  EXPECT_TRUE(notes(facts, "Waiting is not known: nothing tells"));
}

TEST(ItemFacts, TellNoTransferBetweenClocksThatCallsContradict) {
  RowItem item = collective(kWaited);
  item.collective->wait.transfer_ns.reset();
  const ItemFacts facts = facts_of(item);
  EXPECT_EQ(value_of(facts, "Waiting for the last rank"), "3.60 ms");
  EXPECT_EQ(value_of(facts, "Transferring"), "not known");
  EXPECT_EQ(value_of(facts, "Size ÷ transfer"), "");
  EXPECT_TRUE(notes(facts, "The transfer is not known: "));
}

// As a broadcast's root, which sends and goes on: its length is no transfer with the others.
TEST(ItemFacts, TellNoTransferOfARankThatHadLeftBeforeTheLastOneCame) {
  const ItemFacts facts = facts_of(collective({0, {}, true, trace::analysis::WaitDoubt::kNone}));
  EXPECT_EQ(value_of(facts, "Duration"), "14.9 ms");
  EXPECT_EQ(value_of(facts, "Waiting for the last rank"), "0 ns");
  EXPECT_EQ(value_of(facts, "Transferring"), "none");
  EXPECT_EQ(value_of(facts, "Size ÷ transfer"), "");
  EXPECT_TRUE(notes(facts, "It ended before the last rank began"));
}

TEST(ItemFacts, TellExposureOnlyWhereItWasLookedAt) {
  RowItem item = collective();
  EXPECT_EQ(value_of(facts_of(item), "Exposed"), "");
  item.collective->exposed_ns = 0;
  item.collective->overlapped_ns = 14'900'000;
  EXPECT_EQ(value_of(facts_of(item), "Overlapped"), "14.9 ms");
  EXPECT_NE(value_of(facts_of(item), "Exposed"), "");
}

TEST(ItemFacts, TellWholeAndShardOfAUnitAndWhetherItWasPrefetched) {
  RowItem item = collective(kWaited);
  trace::analysis::UnitFigures unit;
  unit.name = "blocks.1";
  unit.bytes = 7 << 20;
  unit.shard_bytes = 7 << 19;
  unit.parameters = {"a", "b", "c"};
  item.collective->unit = std::make_shared<const trace::analysis::UnitFigures>(unit);
  EXPECT_EQ(value_of(facts_of(item), "Prefetched"), "") << "only gathers are";
  item.collective->gather = trace::timeline::DrawnCollective::Gather::kBackward;
  EXPECT_EQ(value_of(facts_of(item), "Prefetched"), "no");
  item.collective->is_prefetched = true;
  const ItemFacts facts = facts_of(item);
  EXPECT_EQ(value_of(facts, "Prefetched"), "yes");
  EXPECT_EQ(value_of(facts, "Unit, gathered"), "7.00 MiB");
  EXPECT_EQ(value_of(facts, "Shard of a rank"), "3.50 MiB");
  EXPECT_TRUE(notes(facts, "Parameters: a, b, … 3 in all"));
}

TEST(ItemFacts, SayWhyABucketIsLargerThanItsCap) {
  RowItem item;
  item.row = 1;
  item.name = "bucket 12";
  item.ready = trace::timeline::ReadyPoint{kStart + 5'000'000, 0, 168 << 20, 12};
  item.collective.emplace();
  trace::analysis::BucketFigures bucket;
  bucket.oversize_reason = "wte.weight 147 MiB: a tensor is never split";
  item.collective->bucket = std::make_shared<const trace::analysis::BucketFigures>(bucket);
  const ItemFacts facts = facts_of(item, trace::timeline::RowKind::kReady);
  EXPECT_EQ(facts.title, "Gradients of bucket 12 are ready");
  EXPECT_EQ(value_of(facts, "Size"), "168 MiB");
  EXPECT_TRUE(notes(facts, "wte.weight 147 MiB"));
}

TEST(ItemFacts, SayOfHowMuchAMeanIs) {
  RowItem item;
  item.row = 1;
  trace::timeline::RibbonColumn& column = item.column.emplace();
  column.start_ns = kStart;
  column.end_ns = kStart + 7'000'000;
  column.share[0] = 1;
  EXPECT_TRUE(notes(facts_of(item), "of 7.00 ms"));
  item.smooth_ns = 31'000'000;
  EXPECT_TRUE(notes(facts_of(item), "of the 31.0 ms around it"));
  EXPECT_FALSE(notes(facts_of(item), "of 7.00 ms"));
  item.column.reset();
  item.point = trace::timeline::AreaPoint{kStart, 1, 2};
  const ItemFacts area = facts_of(item, trace::timeline::RowKind::kCounter);
  EXPECT_EQ(value_of(area, "Highest here"), "");
  EXPECT_NE(value_of(area, "Highest"), "");
  EXPECT_TRUE(notes(area, "of the 31.0 ms around it"));
  item.smooth_ns = 0;
  EXPECT_NE(value_of(facts_of(item, trace::timeline::RowKind::kCounter), "Highest here"), "");
}

TEST(ItemFacts, AnEventWithoutLengthHasNone) {
  trace::timeline::PieceFolder folder(trace::timeline::PixelGrid(0.5), {kStart, kStart + 100}, 1);
  trace::timeline::DrawnEvent event;
  event.time = {kStart + 10, kStart + 10};
  event.ref = {trace::timeline::EventTableKind::kCollective, 0, 3, 0};
  folder.add(event);
  const auto pieces = folder.finish();
  ASSERT_EQ(pieces.size(), 1u);
  RowItem item;
  item.row = 1;
  item.piece = pieces[0];
  EXPECT_EQ(value_of(facts_of(item, trace::timeline::RowKind::kKernels), "Duration"), "0 ns");
  item.collective.emplace().start_ns = kStart + 10;
  EXPECT_EQ(value_of(facts_of(item), "Duration"), "0 ns");
}

TEST(ItemFacts, ACollectiveWhoseTimesAreNotKnownHasNoDuration) {
  RowItem item = collective();
  item.piece->longest_ns = 0;
  item.collective->is_timed = false;
  EXPECT_EQ(value_of(facts_of(item), "Duration"), "not known");
}

TEST(ItemFacts, OfOneStepWhatIsFoldedIsSeenInInspect) {
  trace::timeline::TimelineRows rows = one_row(trace::timeline::RowKind::kKernels);
  RowItem item;
  item.row = 1;
  item.piece.emplace().count = 3;
  EXPECT_TRUE(
      notes(item_facts(rows, StepIndex(rows), item), "Too short to be told apart: zoom in"));
  rows.is_one_step = true;
  EXPECT_TRUE(
      notes(item_facts(rows, StepIndex(rows), item), "Too short to be told apart; Inspect"));
}

TEST(CollectiveLabel, IsWholeOrTheNumberAlone) {
  trace::timeline::DrawnCollective bar;
  bar.tag_kind = trace::model::TagKind::kBucket;
  bar.tag_index = 3;
  bar.bytes = 4 << 20;
  EXPECT_EQ(collective_label(bar, "bucket 3").full, "bucket 3 · 4.00 MiB");
  EXPECT_EQ(collective_label(bar, "bucket 3").brief, "3");
  bar.bytes = -1;
  EXPECT_EQ(collective_label(bar, "bucket 3").full, "bucket 3");
  bar.tag_kind = trace::model::TagKind::kUnit;
  const std::string gather = "blocks.11 forward gather, prefetched";
  EXPECT_EQ(collective_label(bar, gather).full, gather);
  EXPECT_EQ(collective_label(bar, gather).brief, "11");
  EXPECT_EQ(collective_label(bar, "root reduce").brief, "");
  auto unit = std::make_shared<trace::analysis::UnitFigures>();
  unit->name = "module 2.1";
  bar.unit = unit;
  EXPECT_EQ(collective_label(bar, "module 2.1 backward gather").brief, "2.1");
}

}  // namespace

}  // namespace shardlens::ui::inspect
