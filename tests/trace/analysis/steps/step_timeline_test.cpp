
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/analysis/whole_timeline.h"
#include "tests/trace/units.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/analysis/steps/ribbon.h"

namespace shardlens::trace {
namespace {

constexpr std::int64_t kOrigin = 1'000'000'000;
constexpr std::int64_t kMs = 1'000'000;

// Two ranks, a step of 100 ms: forward 0-30, backward 30-80, optimizer 80-100; compute 0-60 and
// 82-98; bucket 0 at 40-50 (hidden), bucket 1 at 50-75 (60-75 exposed); rank 1 enters 5 ms late.
Batch rank_rows(int rank) {
  Batch batch;
  batch.strings = {{rank, 1, "aten::addmm"}, {rank, 2, "aten::_fused_adamw_"}};
  const auto at = [](std::int64_t ms) { return kOrigin + ms * kMs; };
  batch.spans = {{rank, 0, 0, Phase::kForward, 0, 0, at(0), at(30)},
                 {rank, 0, 0, Phase::kBackward, 0, 0, at(30), at(80)},
                 {rank, 0, 0, Phase::kOptimizer, 0, 0, at(80), at(100)}};
  EventRun run{rank, 1, EventKind::kOperator, {}};
  for (int i = 0; i < 333; ++i) {  // operators of 20 µs, gaps of 10 µs: below 1/4000 of the step
    run.events.push_back(operator_event(at(0) + i * 30'000, at(0) + i * 30'000 + 20'000));
    run.events.back().name = 2;
  }
  for (std::int64_t ms = 10; ms < 60; ms += 10) {
    run.events.push_back(operator_event(at(ms), at(ms + 10) - 10'000));
    run.events.back().name = 1;
  }
  run.events.push_back(operator_event(at(82), at(98)));
  run.events.back().name = 2;
  batch.events = {run};
  const std::int64_t late = rank == 1 ? 5 * kMs : 0;
  batch.collectives = {all_reduce(rank, 0, at(40), at(50), 4 * kMiB, 0),
                       all_reduce(rank, 1, at(50) + late, at(75), 147 * kMiB, 1)};
  batch.bucket_ready = {{rank, 0, 0, at(39)}, {rank, 0, 1, at(49)}};
  Step step;
  step.rank = rank;
  step.start_ns = at(0);
  step.end_ns = at(100);
  step.full_detail = true;
  batch.steps = {step};
  batch.rank_info = RankInfo{};
  batch.rank_info->rank = rank;
  batch.rank_info->device = "cpu";
  return batch;
}

class StepTimelineTest : public testing::Test {
 protected:
  void SetUp() override {
    RunInfo info;
    info.world_size = 2;
    RunAnalysis analysis(info);
    for (const auto& batch : rows) analysis.add(batch);
    const auto figures = analysis.figures();
    StepContext context = step_context(figures);
    context.buckets = {{0, 4 * kMiB, {}, {}, ""},
                       {1, 147 * kMiB, {}, {}, "wte.weight 147 MiB: a tensor is …"}};
    timeline = whole_timeline(figures.steps[0], rows, context, analysis.strings());
  }

  std::vector<Batch> rows{rank_rows(1), rank_rows(0)};
  StepTimeline timeline;
};

TEST_F(StepTimelineTest, HasPhasesOfEveryRank) {
  ASSERT_EQ(timeline.ranks.size(), 2u);
  EXPECT_EQ(timeline.end_ns, 100 * kMs);
  const auto& phases = timeline.ranks[0].phases;
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[1].label, "backward");
  EXPECT_EQ(phases[1].start_ns, 30 * kMs);
  EXPECT_EQ(phases[2].bar_class, TimeClass::kOptimizerPhase);
  EXPECT_EQ(timeline.ranks[1].device, "cpu");
}

TEST_F(StepTimelineTest, MergesOperatorsThatCannotBeSeenAndKeepsOthersApart) {
  const auto& compute = timeline.ranks[0].compute;
  ASSERT_EQ(compute.size(), 7u);
  EXPECT_EQ(compute[0].start_ns, 0);
  EXPECT_EQ(compute[0].end_ns, 332 * 30'000 + 20'000);
  EXPECT_EQ(compute[0].label, "aten::_fused_adamw_ + 332");
  EXPECT_EQ(compute[1].start_ns, 10 * kMs);
  EXPECT_EQ(compute[1].end_ns, 20 * kMs - 10'000);
  EXPECT_EQ(compute[1].label, "aten::addmm");
  EXPECT_EQ(compute[6].bar_class, TimeClass::kOptimizer);
  EXPECT_EQ(compute[6].label, "aten::_fused_adamw_");
}

TEST_F(StepTimelineTest, SplitsCommunicationWhereItBecomesExposed) {
  const auto& rank = timeline.ranks[0];
  ASSERT_EQ(rank.collectives.size(), 2u);
  EXPECT_EQ(rank.collectives[1].label, "bucket 1");
  EXPECT_EQ(rank.collectives[1].waits_until_ns, 55 * kMs);  // rank 1's
  EXPECT_EQ(rank.collectives[1].exposed_ns, 15 * kMs + 10'000);
  EXPECT_EQ(rank.collectives[1].overlapped_ns, 10 * kMs - 10'000);
  ASSERT_EQ(rank.communication.size(), 3u);
  EXPECT_EQ(rank.communication[0].label, "bucket 0 · 4.0 MiB");
  EXPECT_EQ(rank.communication[0].bar_class, TimeClass::kOverlapped);
  EXPECT_EQ(rank.communication[1].bar_class, TimeClass::kOverlapped);
  EXPECT_EQ(rank.communication[1].label, "");
  EXPECT_EQ(rank.communication[2].bar_class, TimeClass::kExposed);
  EXPECT_EQ(rank.communication[2].label, "bucket 1 · 147 MiB");
  EXPECT_EQ(rank.communication[2].end_ns, 75 * kMs);
  EXPECT_EQ(rank.communication[2].collective, 1);
}

TEST_F(StepTimelineTest, ARankThatLeftBeforeTheLastOneCameWaitedForNobody) {
  rows[0].collectives[1].start_ns = kOrigin + 90 * kMs;  // rank 1 begins after rank 0 has ended
  rows[0].collectives[1].end_ns = kOrigin + 95 * kMs;
  SetUp();
  EXPECT_EQ(timeline.ranks[0].collectives[1].waits_until_ns, 50 * kMs);
  EXPECT_EQ(timeline.ranks[1].collectives[1].waits_until_ns, 90 * kMs);
}

TEST_F(StepTimelineTest, WaitsAreNotKnownUntilAllRanksOfTheCallHaveRecordedIt) {
  rows[0].collectives.pop_back();  // of rank 1
  SetUp();
  const auto& calls = timeline.ranks[0].collectives;
  EXPECT_EQ(calls[0].waits_until_ns, 40 * kMs);
  EXPECT_FALSE(calls[1].waits_until_ns);
  EXPECT_EQ(calls[1].wait_doubt, WaitDoubt::kRecordsMissing);
}

TEST_F(StepTimelineTest, WaitsThatClocksOfHostsCouldMakeUpAreNotKnown) {
  // Bucket 0 tells that clocks are 10 ms apart at most; bucket 1's wait is 5 ms.
  rows[0].rank_info->host = "node-1";
  rows[1].rank_info->host = "node-0";
  SetUp();
  EXPECT_FALSE(timeline.ranks[0].collectives[1].waits_until_ns);
  EXPECT_EQ(timeline.ranks[0].collectives[1].wait_doubt, WaitDoubt::kClockError);
  rows[0].rank_info->host = "node-0";
  SetUp();
  EXPECT_EQ(timeline.ranks[0].collectives[1].waits_until_ns, 55 * kMs) << "one clock";
}

TEST_F(StepTimelineTest, MarksWhenBucketsWereReady) {
  const auto& ready = timeline.ranks[1].ready;
  ASSERT_EQ(ready.size(), 2u);
  EXPECT_EQ(ready[0].time_ns, 39 * kMs);
  EXPECT_EQ(ready[1].index, 1);
  EXPECT_EQ(ready[1].bytes, 147 * kMiB);
  EXPECT_EQ(ready[1].note, "wte.weight 147 MiB: a tensor is …");
}

TEST_F(StepTimelineTest, RibbonPartitionsTheStep) {
  const auto& ribbon = timeline.ranks[0].ribbon;
  std::vector<TimeClass> classes;
  std::int64_t cursor = 0;
  for (const auto& bar : ribbon) {
    EXPECT_EQ(bar.start_ns, cursor);
    cursor = bar.end_ns;
    classes.push_back(bar.bar_class);
  }
  EXPECT_EQ(cursor, 100 * kMs);
  EXPECT_EQ(classes, (std::vector{TimeClass::kCompute, TimeClass::kOverlapped, TimeClass::kExposed,
                                  TimeClass::kIdle, TimeClass::kOptimizer, TimeClass::kIdle}));
  EXPECT_EQ(ribbon[2].label, "exposed 15.0 ms");
}

TEST_F(StepTimelineTest, CollectivesAndReadyMarksOfUnitsKnowTheirUnit) {
  for (auto& batch : rows) {
    const int rank = batch.steps[0].rank;
    batch.strings.push_back({rank, 7, "blocks.0"});
    batch.strings.push_back({rank, 8, "blocks.0 reduce"});
    batch.strings.push_back({rank, 9, "blocks.0.attn.weight"});
    batch.units = {{rank, 1, 7, 4 * kMiB, 2 * kMiB, 3 * kMiB, 2, 0}};
    batch.unit_parameters = {{rank, 1, 9, 4 * kMiB}};
    batch.unit_ready = {{rank, 0, 1, kOrigin + 45 * kMs}};
    batch.bucket_ready.clear();
    auto& reduce = batch.collectives[0];
    reduce.tag_kind = TagKind::kUnit;
    reduce.tag_index = 1;
    reduce.tag_name = 8;
  }
  SetUp();
  const auto& rank = timeline.ranks[1];
  EXPECT_EQ(rank.collectives[0].label, "blocks.0 reduce");
  ASSERT_TRUE(rank.collectives[0].unit);
  EXPECT_EQ(rank.collectives[0].unit->shard_bytes, 2 * kMiB);
  EXPECT_EQ(rank.collectives[0].unit->parameters, std::vector<std::string>{"blocks.0.attn.weight"});
  EXPECT_FALSE(rank.collectives[1].unit) << "a bucket of the same number";
  ASSERT_EQ(rank.ready.size(), 1u);
  EXPECT_EQ(rank.ready[0].name, "blocks.0");
  EXPECT_EQ(rank.ready[0].bytes, 3 * kMiB);
  EXPECT_EQ(rank.ready[0].unit, rank.collectives[0].unit);
  ASSERT_EQ(rank.lanes.size(), 1u);
}

TEST(StepTimeline, OfNothingIsEmpty) {
  const auto timeline = whole_timeline({}, {}, {}, {});
  EXPECT_TRUE(timeline.ranks.empty());
}

TEST(StepTimeline, SurvivesRowsThatMakeNoSense) {
  auto row = rank_rows(0);
  row.collectives.push_back(all_reduce(7, 0, 5, 2, 1));
  row.collectives.push_back(all_reduce(0, 9, INT64_MAX - 1, INT64_MIN + 1, 1));
  row.events.push_back({-4, 0, EventKind::kKernel, {operator_event(1, 2)}});
  row.events.push_back({0, 0, EventKind::kKernel, {{kOrigin, INT64_MAX, 0, 0, 0, 0}}});
  row.spans.push_back({0, 0, 0, Phase::kForward, 0, 0, 50, 40});
  StepFigures step;
  step.start_ns = kOrigin;
  step.end_ns = kOrigin + 100 * kMs;
  step.ranks.resize(1);
  step.ranks[0].start_ns = kOrigin;
  step.ranks[0].step_ns = 100 * kMs;
  const auto timeline = whole_timeline(step, {row}, {}, {});
  ASSERT_EQ(timeline.ranks.size(), 1u);
  EXPECT_EQ(timeline.ranks[0].collectives.size(), 2u);
  EXPECT_EQ(timeline.ranks[0].ready[0].bytes, 0);
}

// ---- the ribbon on random steps ---------------------------------------------------------------

TEST(Ribbon, ExactPartitionSumsToTheBreakdown) {
  SyntheticOptions options;
  options.gpu = true;
  const auto run = make_run(options);
  RunAnalysis analysis(run.info);
  for (const auto& rank : run.ranks) analysis.add(rank);
  const auto& batch = run.ranks[0];
  for (const auto& step : batch.steps) {
    std::vector<Interval> compute, communication, copies, optimizer;
    for (const auto& events : batch.events) {
      for (const auto& event : events.events) {
        auto& target = events.kind == EventKind::kCopy ? copies : compute;
        target.push_back({event.start_ns, event.end_ns()});
      }
    }
    for (const auto& row : batch.collectives) communication.push_back({row.start_ns, row.end_ns});
    for (const auto& span : batch.spans) {
      if (span.phase == Phase::kOptimizer) optimizer.push_back({span.start_ns, span.end_ns});
    }
    compute = normalize(compute);
    communication = normalize(communication);
    copies = normalize(copies);
    optimizer = normalize(optimizer);
    std::map<TimeClass, std::int64_t> sums;
    auto cursor = step.start_ns;
    for (const auto& piece : exact_partition({compute, communication, copies, optimizer},
                                             {step.start_ns, step.end_ns})) {
      EXPECT_EQ(piece.time.start_ns, cursor);
      cursor = piece.time.end_ns;
      sums[piece.bar_class] += piece.time.length();
    }
    EXPECT_EQ(cursor, step.end_ns);
    const auto counted = count_breakdown(batch, step);
    EXPECT_EQ(sums[TimeClass::kOverlapped], counted.overlap_ns);
    EXPECT_EQ(sums[TimeClass::kExposed], counted.exposed_ns);
    EXPECT_EQ(sums[TimeClass::kCopy], counted.exposed_copy_ns);
    EXPECT_EQ(sums[TimeClass::kIdle], counted.idle_ns);
    EXPECT_EQ(sums[TimeClass::kCompute] + sums[TimeClass::kOptimizer],
              counted.compute_ns - counted.overlap_ns);
  }
}

TEST(Ribbon, SliversDisappearAndTheRestStaysCovered) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<ClassPiece> pieces;
    std::int64_t now = 0;
    while (now < 5000) {
      const bool is_long = random() % 4 == 0;
      const auto length =
          static_cast<std::int64_t>(is_long ? 10 + random() % 300 : 1 + random() % 9);
      const auto bar_class = static_cast<TimeClass>(random() % 6);
      pieces.push_back({{now, now + length}, bar_class});
      now += length;
    }
    const auto coarse = without_slivers(pieces, 10);
    std::int64_t cursor = 0;
    for (const auto& piece : coarse) {
      EXPECT_EQ(piece.time.start_ns, cursor);
      EXPECT_GE(piece.time.length(), 10);
      cursor = piece.time.end_ns;
    }
    EXPECT_EQ(cursor, now);
    // What was long enough keeps its class at its middle.
    for (const auto& piece : pieces) {
      if (piece.time.length() < 10) continue;
      const auto middle = (piece.time.start_ns + piece.time.end_ns) / 2;
      const auto found = std::find_if(coarse.begin(), coarse.end(), [&](const auto& other) {
        return other.time.start_ns <= middle && middle < other.time.end_ns;
      });
      ASSERT_NE(found, coarse.end());
      EXPECT_EQ(found->bar_class, piece.bar_class);
    }
  }
}

TEST(Ribbon, DenseSliversTakeTheClassThatFillsMost) {
  std::vector<ClassPiece> pieces;
  for (std::int64_t t = 0; t < 1000; t += 10) {
    pieces.push_back({{t, t + 7}, TimeClass::kCompute});
    pieces.push_back({{t + 7, t + 10}, TimeClass::kIdle});
  }
  const auto coarse = without_slivers(pieces, 100);
  ASSERT_EQ(coarse.size(), 1u);
  EXPECT_EQ(coarse[0].bar_class, TimeClass::kCompute);
}

}  // namespace
}  // namespace shardlens::trace
