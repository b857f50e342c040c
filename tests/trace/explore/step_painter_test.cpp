#include "trace/explore/step_painter.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/explore/testing/whole_step.h"
#include "tests/trace/units.h"

namespace shardlens::trace::explore {
namespace {

using test::first_step;
using test::name_of;
using test::row_named;
using test::whole_step;

constexpr std::int64_t kStepStart = 1'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

// Two ranks, a step of 100 ms: forward 0-30, backward 30-80, optimizer 80-100; compute 0-60 and
// 82-98; bucket 0 at 40-50 (hidden), bucket 1 at 50-75 (60-75 exposed); rank 1 enters 5 ms late.
model::Batch rank_rows(int rank) {
  model::Batch batch;
  batch.strings = {{rank, 1, "aten::addmm"}, {rank, 2, "aten::_fused_adamw_"}};
  const auto at = [](std::int64_t ms) { return kStepStart + ms * kMs; };
  batch.spans = {{rank, 0, 0, base::Phase::kForward, 0, 0, at(0), at(30)},
                 {rank, 0, 0, base::Phase::kBackward, 0, 0, at(30), at(80)},
                 {rank, 0, 0, base::Phase::kOptimizer, 0, 0, at(80), at(100)}};
  model::EventRun run{rank, 1, model::EventKind::kOperator, {}};
  for (int i = 0; i < 333; ++i) {  // operators of 20 µs, gaps of 10 µs: below 1/4000 of the step
    run.events.push_back(analysis::operator_event(at(0) + i * 30'000, at(0) + i * 30'000 + 20'000));
    run.events.back().name = 2;
  }
  for (std::int64_t ms = 10; ms < 60; ms += 10) {
    run.events.push_back(analysis::operator_event(at(ms), at(ms + 10) - 10'000));
    run.events.back().name = 1;
  }
  run.events.push_back(analysis::operator_event(at(82), at(98)));
  run.events.back().name = 2;
  batch.events = {run};
  const std::int64_t late = rank == 1 ? 5 * kMs : 0;
  batch.collectives = {analysis::all_reduce(rank, 0, at(40), at(50), 4 * kMiB, 0),
                       analysis::all_reduce(rank, 1, at(50) + late, at(75), 147 * kMiB, 1)};
  batch.bucket_ready = {{rank, 0, 0, at(39)}, {rank, 0, 1, at(49)}};
  model::Step step;
  step.rank = rank;
  step.start_ns = at(0);
  step.end_ns = at(100);
  step.full_detail = true;
  batch.steps = {step};
  batch.rank_info = model::RankInfo{};
  batch.rank_info->rank = rank;
  batch.rank_info->device = "cpu";
  return batch;
}

class StepPainterTest : public testing::Test {
 protected:
  void SetUp() override {
    model::RunInfo info;
    info.world_size = 2;
    info.settings.bucket_cap_mb = 25;
    step = first_step(info, rows);
  }
  const timeline::RowPicture& row(int rank, const std::string& label) const {
    return *row_named(step, rank, label);
  }
  // The parts of a call on its row.
  std::vector<timeline::Piece> parts(int rank, const std::string& name) const {
    std::vector<timeline::Piece> found;
    for (const timeline::Piece& piece : row(rank, "Communication").pieces) {
      if (name_of(step, piece.name) == name) found.push_back(piece);
    }
    return found;
  }
  const timeline::DrawnCollective& call(int rank, const std::string& name) const {
    const auto index = static_cast<std::size_t>(parts(rank, name).at(0).collective);
    return row(rank, "Communication").collectives.at(index);
  }

  std::vector<model::Batch> rows{rank_rows(1), rank_rows(0)};
  timeline::StepPicture step;
};

TEST_F(StepPainterTest, HasRowsOfEveryRankAndNoOther) {
  ASSERT_EQ(step.rows->ranks.size(), 2u);
  EXPECT_TRUE(step.rows->is_one_step);
  EXPECT_EQ(step.rows->start_ns, kStepStart);
  EXPECT_EQ(step.rows->end_ns, kStepStart + 100 * kMs);
  EXPECT_EQ(step.rows->ranks[1].device, "cpu");
  std::vector<std::string> labels;
  for (const int id : step.rows->ranks[0].rows) {
    labels.push_back(step.rows->rows.at(static_cast<std::size_t>(id)).label);
  }
  EXPECT_EQ(labels,
            (std::vector<std::string>{"Ribbon", "Phases", "Compute", "Communication", "Buckets"}));
  EXPECT_EQ(step.rows->rows.size(), 10u) << "none is of all ranks";
  EXPECT_TRUE(step.has_detail);
  const auto& phases = row(0, "Phases").pieces;
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(name_of(step, phases[1].name), "backward");
  EXPECT_EQ(phases[1].start_ns, kStepStart + 30 * kMs);
  EXPECT_EQ(phases[2].piece_class, base::TimeClass::kOptimizerPhase);
}

TEST_F(StepPainterTest, FoldsOperatorsThatCannotBeSeenAndKeepsOthersApart) {
  const auto& pieces = row(0, "Compute").pieces;
  std::vector<timeline::Piece> alone;
  std::uint32_t folded = 0;
  for (const timeline::Piece& piece : pieces) {
    if (piece.ref.exists() && piece.duration_ns() > kMs) {
      alone.push_back(piece);
    } else {
      folded += piece.count;
      EXPECT_LE(piece.end_ns, kStepStart + 10 * kMs);
    }
  }
  EXPECT_EQ(folded, 333u);
  ASSERT_EQ(alone.size(), 6u);
  EXPECT_EQ(alone[0].start_ns, kStepStart + 10 * kMs);
  EXPECT_EQ(alone[0].end_ns, kStepStart + 20 * kMs - 10'000);
  EXPECT_EQ(name_of(step, alone[0].name), "aten::addmm");
  EXPECT_EQ(alone[0].piece_class, base::TimeClass::kCompute);
  EXPECT_EQ(alone[5].piece_class, base::TimeClass::kOptimizer);
  EXPECT_EQ(name_of(step, alone[5].name), "aten::_fused_adamw_");
}

TEST_F(StepPainterTest, SplitsCommunicationWhereItBecomesExposed) {
  EXPECT_EQ(call(0, "bucket 1").exposed_ns, 15 * kMs + 10'000);
  EXPECT_EQ(call(0, "bucket 1").overlapped_ns, 10 * kMs - 10'000);
  EXPECT_EQ(call(0, "bucket 1").bytes, 147 * kMiB);
  EXPECT_EQ(parts(0, "bucket 0").size(), 1u) << "gaps between operators are no border";
  EXPECT_EQ(parts(0, "bucket 0")[0].piece_class, base::TimeClass::kOverlapped);
  const auto second = parts(0, "bucket 1");
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].piece_class, base::TimeClass::kOverlapped);
  EXPECT_EQ(second[1].piece_class, base::TimeClass::kExposed);
  EXPECT_EQ(second[1].end_ns, kStepStart + 75 * kMs);
  EXPECT_EQ(second[0].latest_start_ns, kStepStart + 55 * kMs) << "rank 1's";
}

TEST_F(StepPainterTest, WaitsAreNotKnownUntilAllRanksOfTheCallHaveRecordedIt) {
  rows[0].collectives.pop_back();  // of rank 1
  SetUp();
  EXPECT_EQ(parts(0, "bucket 0").at(0).latest_start_ns, kStepStart + 40 * kMs);
  EXPECT_EQ(parts(0, "bucket 1").at(0).latest_start_ns, 0);
  EXPECT_EQ(call(0, "bucket 1").wait.doubt, analysis::WaitDoubt::kRecordsMissing);
}

TEST_F(StepPainterTest, MarksWhenBucketsWereReadyAndWhatReducesThem) {
  for (auto& batch : rows) {
    const int rank = batch.steps[0].rank;
    batch.strings.push_back({rank, 9, "wte.weight"});
    batch.buckets = {{rank, 0, 0, 4 * kMiB, {}, {}}, {rank, 0, 1, 147 * kMiB, {9}, {147 * kMiB}}};
  }
  SetUp();
  const timeline::RowPicture& buckets = row(1, "Buckets");
  ASSERT_EQ(buckets.ready.size(), 2u);
  EXPECT_EQ(buckets.ready[0].time_ns, kStepStart + 39 * kMs);
  EXPECT_EQ(buckets.ready[1].index, 1);
  EXPECT_EQ(buckets.ready[1].bytes, 147 * kMiB);
  ASSERT_EQ(buckets.pieces.size(), 2u);
  const auto& reduced = buckets.collectives.at(1).bucket;
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->oversize_reason, "wte.weight 147 MiB: a tensor is never split");
}

TEST_F(StepPainterTest, RibbonPartitionsTheStep) {
  std::vector<base::TimeClass> classes;
  std::int64_t cursor = kStepStart;
  const auto& ribbon = row(0, "Ribbon").pieces;
  for (const timeline::Piece& piece : ribbon) {
    EXPECT_EQ(piece.start_ns, cursor);
    EXPECT_LE(piece.longest_ns, piece.duration_ns());
    cursor = piece.end_ns;
    classes.push_back(piece.piece_class);
  }
  EXPECT_EQ(cursor, kStepStart + 100 * kMs);
  EXPECT_EQ(classes, (std::vector{base::TimeClass::kCompute, base::TimeClass::kOverlapped,
                                  base::TimeClass::kExposed, base::TimeClass::kIdle,
                                  base::TimeClass::kOptimizer, base::TimeClass::kIdle}));
  EXPECT_EQ(ribbon[2].longest_ns, 15 * kMs + 10'000);
}

TEST_F(StepPainterTest, OfAStepWithoutDetailNoRibbonIsMadeUp) {
  for (auto& batch : rows) {
    batch.steps[0].full_detail = false;
    batch.events.clear();
  }
  SetUp();
  EXPECT_FALSE(step.has_detail);
  EXPECT_TRUE(row(0, "Ribbon").pieces.empty());
}

TEST_F(StepPainterTest, HasNoRowOfPhasesWhereTheHostToldNone) {
  auto& first = rows.front();
  first.spans.clear();
  const int silent = first.rank_info->rank;
  SetUp();
  EXPECT_EQ(row_named(step, silent, "Phases"), nullptr);
  EXPECT_EQ(row(1 - silent, "Phases").pieces.size(), 3u);
}

TEST_F(StepPainterTest, AStepThatOneRankAwaitsHasNoDetail) {
  for (auto& batch : rows) batch.rank_info->device = batch.rank_info->rank == 1 ? "cuda:0" : "cpu";
  SetUp();
  EXPECT_TRUE(step.awaits_detail);
  EXPECT_FALSE(step.has_detail);
  rows[0].collectives.push_back(
      analysis::all_reduce(1, 2, kStepStart + 101 * kMs, kStepStart + 102 * kMs, 8));
  SetUp();
  EXPECT_TRUE(step.awaits_detail) << "its operators are behind";
  rows[0].events[0].events.push_back(
      analysis::operator_event(kStepStart + 101 * kMs, kStepStart + 102 * kMs));
  SetUp();
  EXPECT_FALSE(step.awaits_detail);
  EXPECT_TRUE(step.has_detail);
}

TEST_F(StepPainterTest, CollectivesAndReadyMarksOfUnitsKnowTheirUnit) {
  for (auto& batch : rows) {
    const int rank = batch.steps[0].rank;
    batch.strings.push_back({rank, 7, "blocks.0"});
    batch.strings.push_back({rank, 8, "blocks.0 reduce"});
    batch.strings.push_back({rank, 9, "blocks.0.attn.weight"});
    batch.units = {{rank, 1, 7, 4 * kMiB, 2 * kMiB, 3 * kMiB, 2, 0}};
    batch.unit_parameters = {{rank, 1, 9, 4 * kMiB}};
    batch.unit_ready = {{rank, 0, 1, kStepStart + 45 * kMs}};
    batch.bucket_ready.clear();
    auto& reduce = batch.collectives[0];
    reduce.tag_kind = model::TagKind::kUnit;
    reduce.tag_index = 1;
    reduce.tag_name = 8;
  }
  SetUp();
  const auto& unit = call(1, "blocks.0 reduce").unit;
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->shard_bytes, 2 * kMiB);
  EXPECT_EQ(unit->parameters, std::vector<std::string>{"blocks.0.attn.weight"});
  EXPECT_FALSE(call(1, "bucket 1").unit) << "a bucket of the same number";
  const timeline::RowPicture& units = row(1, "Units");
  ASSERT_EQ(units.ready.size(), 1u);
  EXPECT_EQ(name_of(step, units.ready[0].name), "blocks.0");
  EXPECT_EQ(units.ready[0].bytes, 3 * kMiB);
  EXPECT_EQ(row_named(step, 1, "Buckets"), nullptr);
}

TEST(StepPainter, PutsRanksThatComputeLongestFirst) {
  std::vector<model::Batch> rows{rank_rows(0), rank_rows(1)};
  rows[0].events[0].events.pop_back();  // the optimizer's 16 ms
  model::RunInfo info;
  info.world_size = 2;
  const timeline::StepPicture step = first_step(info, rows);
  ASSERT_EQ(step.by_compute.size(), 2u);
  EXPECT_EQ(step.by_compute[0].rank, 1);
  EXPECT_EQ(step.by_compute[0].compute_ns - step.by_compute[1].compute_ns, 16 * kMs);
}

TEST(StepPainter, OfNothingIsEmpty) {
  const timeline::StepPicture step = whole_step({}, {}, {}, {});
  EXPECT_TRUE(step.rows->ranks.empty());
  EXPECT_TRUE(step.picture->rows.empty());
}

TEST(StepPainter, TellsWhatCouldNotBeRead) {
  const auto step = StepPainter().paint({}, {}, {}, [](const auto&) -> base::Result<void> {
    return base::fail(base::ErrorKind::kDamaged, "rank_0.sqlite is damaged");
  });
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().message, "rank_0.sqlite is damaged");
}

TEST(StepPainter, SurvivesRowsThatMakeNoSense) {
  auto row = rank_rows(0);
  row.collectives.push_back(analysis::all_reduce(7, 0, 5, 2, 1));
  row.collectives.push_back(analysis::all_reduce(0, 9, INT64_MAX - 1, INT64_MIN + 1, 1));
  row.events.push_back({-4, 0, model::EventKind::kKernel, {analysis::operator_event(1, 2)}});
  row.events.push_back({0, 0, model::EventKind::kKernel, {{kStepStart, INT64_MAX, 0, 0, 0, 0}}});
  row.spans.push_back({0, 0, 0, base::Phase::kForward, 0, 0, 50, 40});
  analysis::StepFigures figures;
  figures.start_ns = kStepStart;
  figures.end_ns = kStepStart + 100 * kMs;
  figures.ranks.resize(1);
  figures.ranks[0].start_ns = kStepStart;
  figures.ranks[0].step_ns = 100 * kMs;
  const timeline::StepPicture step = whole_step({}, figures, {row}, {});
  ASSERT_EQ(step.rows->ranks.size(), 1u);
  const timeline::RowPicture* const buckets = row_named(step, 0, "Buckets");
  ASSERT_NE(buckets, nullptr);
  EXPECT_EQ(buckets->collectives.size(), 2u);
  EXPECT_EQ(buckets->ready.at(0).bytes, 0);
}

// Hybrid sharding over 2 × 2 ranks: groups of different ranks have the same number and name.
class StepOfTwoGroups : public testing::TestWithParam<std::array<int, 4>> {
 protected:
  static constexpr int kShard = 1, kReplicate = 2;
  static constexpr std::int64_t kBegin = 1'000'000'000;

  static model::Collective call(int rank, int group, std::int64_t start_ns, std::int64_t end_ns) {
    model::Collective row = analysis::all_reduce(rank, 0, kBegin + start_ns, kBegin + end_ns, 4096);
    row.process_group = group;
    row.tag_kind = model::TagKind::kUnit;
    return row;
  }
  // {0, 1} reduce at 100 to 200, {2, 3} at 500 to 700 with rank 3 50 late; the replicas {0, 2} at
  // 750 to 800, {1, 3} at 750 to 900 with rank 1 30 late.
  static model::Batch rows_of(int rank) {
    constexpr std::array<std::array<std::int64_t, 4>, 4> kTimes{
        {{100, 200, 750, 800}, {100, 200, 780, 900}, {500, 700, 750, 800}, {550, 700, 750, 900}}};
    const auto& t = kTimes[static_cast<std::size_t>(rank)];
    model::Batch batch;
    batch.strings = {{rank, 2, "shard"}, {rank, 3, "replicate"}};
    const int first = rank / 2 * 2, own = rank % 2;
    batch.process_groups = {{rank, kShard, 2, 0, {first, first + 1}},
                            {rank, kReplicate, 3, 0, {own, own + 2}}};
    batch.collectives = {call(rank, kShard, t[0], t[1]), call(rank, kReplicate, t[2], t[3])};
    model::Step step;
    step.rank = rank;
    step.start_ns = kBegin;
    step.end_ns = kBegin + 1000;
    step.full_detail = true;
    batch.steps = {step};
    return batch;
  }
  void SetUp() override {
    model::RunInfo info;
    info.world_size = 4;
    std::vector<model::Batch> rows;
    for (const int rank : GetParam()) rows.push_back(rows_of(rank));
    step = first_step(info, rows);
  }
  std::int64_t latest(int rank, const std::string& row) const {
    return row_named(step, rank, row)->pieces.at(0).latest_start_ns - kBegin;
  }
  timeline::StepPicture step;
};

TEST_P(StepOfTwoGroups, WaitsForMembersOnly) {
  EXPECT_EQ(latest(0, "shard"), 100);
  EXPECT_EQ(latest(1, "shard"), 100);
  EXPECT_EQ(latest(2, "shard"), 550);
  EXPECT_EQ(latest(3, "shard"), 550);
  EXPECT_EQ(latest(0, "replicate"), 750);
  EXPECT_EQ(latest(2, "replicate"), 750);
  EXPECT_EQ(latest(3, "replicate"), 780);
}

TEST_P(StepOfTwoGroups, HasARowForEachGroupThatWasUsed) {
  EXPECT_EQ(row_named(step, 3, "Communication"), nullptr);
  EXPECT_EQ(row_named(step, 3, "world"), nullptr) << "nothing went over it";
  EXPECT_NE(row_named(step, 3, "Units"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Orders, StepOfTwoGroups,
                         testing::Values(std::array{0, 1, 2, 3}, std::array{3, 2, 1, 0},
                                         std::array{2, 0, 3, 1}));

}  // namespace
}  // namespace shardlens::trace::explore
