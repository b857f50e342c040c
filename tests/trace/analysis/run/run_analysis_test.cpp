#include "trace/analysis/run/run_analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "tests/trace/analysis/synthetic_run.h"
#include "trace/analysis/collectives/exposed_time.h"
#include "trace/analysis/steps/rank_activity.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {
namespace {

RunFigures analyse(const model::RunInfo& info, const std::vector<model::Batch>& batches) {
  RunAnalysis analysis(info);
  for (const auto& batch : batches) analysis.add(batch);
  return analysis.figures();
}

// As a live viewer sees it: the ranks' rows come in turn.
std::vector<model::Batch> interleaved(const SyntheticRun& run) {
  std::vector<std::vector<model::Batch>> ranks;
  for (const auto& rank : run.ranks) ranks.push_back(one_by_one(rank));
  std::vector<model::Batch> result;
  for (std::size_t i = 0;; ++i) {
    bool any = false;
    for (auto& rank : ranks) {
      if (i >= rank.size()) continue;
      result.push_back(rank[i]);
      any = true;
    }
    if (!any) return result;
  }
}

// Ranks in random turns, and each row up to `most_late` rows after its place.
std::vector<model::Batch> shuffled(const SyntheticRun& run, int most_late, std::mt19937& random) {
  std::vector<model::Batch> result;
  std::vector<std::pair<double, model::Batch>> placed;
  for (const auto& rank : run.ranks) {
    const auto rows = one_by_one(rank);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double late = i == 0 ? -most_late : std::uniform_int_distribution(0, most_late)(random);
      placed.emplace_back(static_cast<double>(i) + late, rows[i]);
    }
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, batch] : placed) result.push_back(std::move(batch));
  return result;
}

SyntheticOptions many_old_steps() {
  SyntheticOptions options;
  options.ranks = 3;
  options.steps = 40;
  options.scale = 500'000;  // steps of 0.15 s: most are retired before the end
  return options;
}

TEST(RunAnalysis, BreaksStepsDownAsCountingNanosecondsDoes) {
  for (const bool gpu : {false, true}) {
    SyntheticOptions options;
    options.gpu = gpu;
    options.no_detail_every = 3;
    const auto run = make_run(options);
    const auto figures = analyse(run.info, run.ranks);
    ASSERT_EQ(figures.steps.size(), 6u);
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
      for (const auto& step : run.ranks[rank].steps) {
        auto found = figures.steps[static_cast<std::size_t>(step.index)].ranks[rank];
        found.bytes_sent = 0;  // has its own test
        EXPECT_EQ(found, count_breakdown(run.ranks[rank], step)) << "step " << step.index;
      }
    }
  }
}

TEST(RunAnalysis, ACollectiveAcrossABorderIsClippedToEachStep) {
  model::Batch batch;
  for (std::int64_t index : {0, 1}) {
    model::Step step;
    step.index = index;
    step.start_ns = 100 + index * 100;
    step.end_ns = step.start_ns + 100;
    step.full_detail = true;
    batch.steps.push_back(step);
  }
  batch.collectives = {all_reduce(0, 0, 170, 240, 64)};
  model::RunInfo info;
  info.world_size = 1;
  const auto steps = analyse(info, {batch}).steps;
  EXPECT_EQ(steps[0].ranks[0].comm_ns, 30);
  EXPECT_EQ(steps[1].ranks[0].comm_ns, 40);
}

TEST(RunAnalysis, FiguresDoNotDependOnHowTheRowsArrive) {
  std::mt19937 random(7);
  for (auto options : {SyntheticOptions{}, many_old_steps()}) {
    for (const bool gpu : {false, true}) {
      options.gpu = gpu;
      const auto run = make_run(options);
      const auto whole = dump(analyse(run.info, run.ranks));
      auto reversed = run.ranks;
      std::reverse(reversed.begin(), reversed.end());
      EXPECT_EQ(dump(analyse(run.info, reversed)), whole);
      std::vector<model::Batch> rank_after_rank;
      for (const auto& rank : run.ranks) {
        for (auto& batch : one_by_one(rank)) rank_after_rank.push_back(std::move(batch));
      }
      EXPECT_EQ(dump(analyse(run.info, rank_after_rank)), whole);
      EXPECT_EQ(dump(analyse(run.info, interleaved(run))), whole);
      EXPECT_EQ(dump(analyse(run.info, shuffled(run, 60, random))), whole);
    }
  }
}

// Shorter steps than a recorder's batch: rows come many steps late.
TEST(RunAnalysis, ShortStepsWaitForTheirRowsByTime) {
  std::mt19937 random(11);
  SyntheticOptions options;
  options.steps = 180;
  options.scale = 60'000;  // 18 ms
  const auto run = make_run(options);
  EXPECT_EQ(dump(analyse(run.info, shuffled(run, 400, random))),
            dump(analyse(run.info, run.ranks)));
}

TEST(RunAnalysis, RetiringStepsChangesNoFigure) {
  auto options = many_old_steps();
  options.gpu = true;
  const auto run = make_run(options);
  const auto figures = analyse(run.info, interleaved(run));
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    StepActivity all;
    std::vector<base::Interval> compute, communication, copies;
    for (const auto& events : run.ranks[i].events) {
      for (const auto& event : events.events) {
        auto& target = events.kind == model::EventKind::kCopy ? copies : compute;
        target.push_back({event.start_ns, event.end_ns()});
      }
    }
    for (const auto& row : run.ranks[i].collectives) {
      communication.push_back({row.start_ns, row.end_ns});
    }
    for (const auto& span : run.ranks[i].spans) {
      all.phases.push_back({span.start_ns, span.end_ns, span.phase});
    }
    all.compute = base::normalize(std::move(compute));
    all.communication = base::normalize(std::move(communication));
    all.copies = base::normalize(std::move(copies));
    const auto& totals = figures.ranks[i].totals;
    EXPECT_EQ(totals.compute_ns, base::length(all.compute));
    EXPECT_EQ(totals.comm_ns, base::length(all.communication));
    EXPECT_EQ(totals.overlap_ns, base::length(base::intersect(all.compute, all.communication)));
    EXPECT_EQ(totals.busy_ns,
              base::length(base::unite(base::unite(all.compute, all.communication), all.copies)));
    for (const auto& step : run.ranks[i].steps) {
      all.step = {step.start_ns, step.end_ns};
      all.full_detail = true;
      auto found = figures.steps[static_cast<std::size_t>(step.index)].ranks[i];
      found.bytes_sent = 0;
      EXPECT_EQ(found, break_down(all));
    }
  }
}

TEST(RowExposure, FoldingStepsKeepsTheMeansAndFreesTheParts) {
  JoinedSteps table(1);
  table.set_rank_count(1);
  table.set_world_size(1);
  RowExposure exposure;
  for (std::int64_t index = 0; index < 5; ++index) {
    model::Step step;
    step.index = index;
    step.end_ns = 100;
    step.full_detail = true;
    table.add(std::vector{step});
    StepBreakdown breakdown;
    breakdown.has_detail = true;
    table.set_breakdown(0, index, breakdown);
    exposure.set(index, 0, {{0, 10 * index}, {1, 1}});
  }
  const std::vector<double> expected{25, 1};  // steps 1 to 4
  EXPECT_EQ(exposure.means(table, 2), expected);
  exposure.fold_before(3, table);
  EXPECT_EQ(exposure.open_steps(), 2u);
  EXPECT_EQ(exposure.means(table, 2), expected);
}

TEST(RunAnalysis, FiguresAskedForInBetweenChangeNothing) {
  const auto run = make_run(many_old_steps());
  RunAnalysis analysis(run.info);
  for (const auto& batch : interleaved(run)) {
    analysis.add(batch);
    if (!batch.steps.empty()) {
      EXPECT_GE(analysis.figures().summary.steps_executed, 1);
    }
  }
  EXPECT_EQ(dump(analysis.figures()), dump(analyse(run.info, run.ranks)));
}

TEST(RunAnalysis, KeepsOnlyTheRecentPast) {
  auto options = many_old_steps();
  options.ranks = 1;
  options.steps = 400;
  const auto run = make_run(options);
  model::StringTable strings;
  RankActivity activity;
  std::size_t most = 0;
  std::size_t rows = 0;
  for (const auto& batch : one_by_one(run.ranks[0])) {
    for (const auto& events : batch.events) activity.add_events(events, strings), ++rows;
    for (const auto& span : batch.spans) activity.add_span(span);
    for (const auto& row : batch.collectives) activity.add_collective(row, 0, 0), ++rows;
    for (const auto& step : batch.steps) activity.add_step(step);
    activity.compute_touched();
    activity.retire();
    most = std::max(most, activity.kept_intervals());
  }
  EXPECT_GT(rows, 5000u);
  EXPECT_LT(most, 600u);
  EXPECT_EQ(activity.late_rows(), 0);
}

TEST(RunAnalysis, StepsWithoutDetailHaveOnlyTimesAndPhases) {
  SyntheticOptions options;
  options.no_detail_every = 2;  // steps 1, 3, 5
  options.skip_steps = 0;
  const auto run = make_run(options);
  const auto figures = analyse(run.info, run.ranks);
  EXPECT_EQ(figures.summary.steps_measured, 6);
  EXPECT_FALSE(figures.steps[1].ranks[0].has_detail);
  EXPECT_EQ(figures.steps[1].ranks[0].compute_ns, 0);
  EXPECT_GT(figures.steps[1].ranks[0].phase_ns[static_cast<std::size_t>(base::Phase::kForward)], 0);
  double compute = 0;
  for (std::size_t index : {0u, 2u, 4u}) {
    for (const auto& rank : figures.steps[index].ranks) {
      compute += static_cast<double>(rank.compute_ns) / 6;
    }
  }
  EXPECT_NEAR(figures.summary.compute_ns, compute, 1e-9);
}

TEST(RunAnalysis, NothingIsMeasuredBeforeTheSkippedStepsAreOver) {
  SyntheticOptions options;
  options.steps = 3;
  options.skip_steps = 3;
  const auto run = make_run(options);
  const auto summary = analyse(run.info, run.ranks).summary;
  EXPECT_EQ(summary.steps_executed, 3);
  EXPECT_EQ(summary.steps_measured, 0);
  EXPECT_EQ(summary.step_ns.count, 0);
  EXPECT_EQ(summary.tokens_per_s, std::nullopt);
  EXPECT_FALSE(summary.has_detail);
  EXPECT_FALSE(summary.overlap_fraction);
  EXPECT_FALSE(summary.mfu);
  EXPECT_EQ(summary.loss_first, 4.0);
  EXPECT_EQ(summary.loss_last, 3.5);
}

TEST(RunAnalysis, OfARunThatWasResumedTheLastStepTellsHowFarItCame) {
  auto run = make_run({});
  for (model::Batch& rank : run.ranks) {
    for (model::Step& step : rank.steps) step.index += 100;
  }
  const auto summary = analyse(run.info, run.ranks).summary;
  EXPECT_EQ(summary.steps_executed, 6);
  EXPECT_EQ(summary.last_step, 105);
  EXPECT_EQ(RunSummary().last_step, -1);
}

TEST(RunAnalysis, WhatOneRankDoesNotTellIsNotKnownOfAll) {
  auto run = make_run({});
  for (model::Step& step : run.ranks[1].steps) {
    step.tokens = model::kNotKnown;
    step.model_flops = model::kNotKnown;
    step.learning_rate = std::numeric_limits<double>::quiet_NaN();
  }
  const auto figures = analyse(run.info, run.ranks);
  EXPECT_EQ(figures.steps[0].tokens, std::nullopt);
  EXPECT_EQ(figures.steps[0].learning_rate, 1e-3) << "the other ranks tell it";
  EXPECT_EQ(figures.summary.tokens_per_s, std::nullopt);
  EXPECT_EQ(figures.summary.mfu, std::nullopt);
  EXPECT_NE(figures.summary.samples_per_s, std::nullopt);
}

TEST(RunAnalysis, WhatRanksDidTogetherIsNotKnownWhereAFileCannotBeRead) {
  auto run = make_run({});
  run.info.recorded_ranks = static_cast<int>(run.ranks.size());
  ++run.info.world_size;
  run.info.unreadable = {"rank 2 is damaged"};
  const auto summary = analyse(run.info, run.ranks).summary;
  EXPECT_GT(summary.steps_measured, 0);
  EXPECT_EQ(summary.tokens_per_s, std::nullopt);
  EXPECT_EQ(summary.samples_per_s, std::nullopt);
}

TEST(RunAnalysis, AStepThatOneRankHasNotReportedIsNotMeasured) {
  auto run = make_run({});
  run.ranks[1].steps.pop_back();
  const auto figures = analyse(run.info, run.ranks);
  EXPECT_FALSE(figures.steps.back().complete);
  EXPECT_EQ(figures.summary.steps_executed, 6);
  EXPECT_EQ(figures.summary.steps_measured, 3);
}

// A process that computes and does not train, beside those that do.
TEST(RunAnalysis, InAnothersProgramARankWithoutStepsDoesNotHideThoseOfTheOthers) {
  auto run = make_run({});
  run.ranks[1].steps.clear();
  EXPECT_EQ(analyse(run.info, run.ranks).summary.steps_measured, 0);
  run.info.imported_from = "another program";
  run.info.status = model::RunStatus::kRunning;
  EXPECT_EQ(analyse(run.info, run.ranks).summary.steps_measured, 0) << "they may come";
  run.info.status = model::RunStatus::kDone;
  EXPECT_EQ(analyse(run.info, run.ranks).summary.steps_measured, 4);
  std::swap(run.ranks.front(), run.ranks.back());
  EXPECT_EQ(analyse(run.info, run.ranks).summary.steps_measured, 4) << "in any order";
}

// An exception leaves the range of a step as its end does.
TEST(RunAnalysis, OfAnInterruptedProgramOfOthersTheLastStepOfEachRankIsNotMeasured) {
  auto run = make_run({});
  const auto measured = [&](model::RunStatus status, std::string_view program) {
    run.info.status = status;
    run.info.imported_from = program;
    return analyse(run.info, run.ranks).summary.steps_measured;
  };
  const std::string_view others = model::kRecordedProgram;
  EXPECT_EQ(measured(model::RunStatus::kStopped, others), 3) << "packed, too: without a command";
  EXPECT_EQ(measured(model::RunStatus::kFailed, others), 3);
  EXPECT_EQ(measured(model::RunStatus::kDone, others), 4);
  EXPECT_EQ(measured(model::RunStatus::kStopped, ""), 4) << "ours ends with a step";
  EXPECT_EQ(measured(model::RunStatus::kStopped, "PyTorch profiler"), 4) << "it was not there";
  run.ranks[1].steps.pop_back();
  EXPECT_EQ(measured(model::RunStatus::kStopped, others), 2) << "that of each rank";
}

TEST(RunAnalysis, OfAnInterruptedProgramThatIsReplayedTheNewestStepIsNotTheLast) {
  auto run = make_run({});
  run.info.status = model::RunStatus::kStopped;
  run.info.imported_from = model::kRecordedProgram;
  for (model::Batch& rank : run.ranks) {
    ASSERT_TRUE(rank.rank_info);
    rank.rank_info->device = "cpu";
    rank.rank_info->sources.clear();
  }
  RunAnalysis analysis(run.info);
  analysis.expect_more(true);
  for (const model::Batch& rank : run.ranks) analysis.add(rank);
  EXPECT_EQ(analysis.figures().summary.steps_measured, 4);
  EXPECT_FALSE(analysis.figures().recorder.lacks_end);
  analysis.expect_more(false);
  EXPECT_EQ(analysis.figures().summary.steps_measured, 3);
  EXPECT_FALSE(analysis.steps().back().complete) << "whoever asks";
  EXPECT_TRUE(analysis.figures().recorder.lacks_end) << "nothing says that a file was closed";
  analysis.expect_more(true);
  EXPECT_TRUE(analysis.steps().back().complete);
}

TEST(RunAnalysis, ARankThatNeverToldItsSourcesLacksItsEnd) {
  auto run = make_run({});
  for (model::Batch& rank : run.ranks) {
    ASSERT_TRUE(rank.rank_info);
    rank.rank_info->device = "cpu";
    rank.rank_info->sources = "NVTX ranges";
  }
  run.info.status = model::RunStatus::kDone;
  run.info.imported_from = model::kRecordedProgram;
  EXPECT_FALSE(analyse(run.info, run.ranks).recorder.lacks_end);
  run.ranks[1].rank_info->sources.clear();
  EXPECT_TRUE(analyse(run.info, run.ranks).recorder.lacks_end);
  run.ranks[1].rank_info->sources = "NVTX ranges" + std::string(model::kEndNotTold);
  EXPECT_TRUE(analyse(run.info, run.ranks).recorder.lacks_end) << "sources so far";
  model::Batch last;
  last.strings.push_back({.rank = 1, .id = 900, .text = std::string(model::kClosedInOrder)});
  run.ranks.push_back(last);
  EXPECT_FALSE(analyse(run.info, run.ranks).recorder.lacks_end) << "its file says so";
  run.ranks.pop_back();
  run.info.status = model::RunStatus::kRunning;
  EXPECT_FALSE(analyse(run.info, run.ranks).recorder.lacks_end) << "it may come";
}

TEST(RunAnalysis, ASingleStepShowsItsSlowestRank) {
  const auto run = make_run({});
  for (const auto& step : analyse(run.info, run.ranks).steps) {
    for (const auto& rank : step.ranks) EXPECT_GE(step.shown().step_ns, rank.step_ns);
  }
}

TEST(RunAnalysis, ANonfiniteLossIsMarkedWithItsRank) {
  auto run = make_run({});
  run.ranks[1].steps[3].nonfinite = true;
  run.ranks[1].steps[3].loss = std::numeric_limits<double>::quiet_NaN();
  const auto figures = analyse(run.info, run.ranks);
  EXPECT_TRUE(figures.steps[3].nonfinite);
  EXPECT_EQ(figures.steps[3].nonfinite_rank, 1);
  EXPECT_TRUE(std::isnan(figures.steps[3].loss));
  EXPECT_FALSE(figures.steps[2].nonfinite);
}

TEST(RunAnalysis, TheLastLossIsTheLastThatWasRead) {
  auto run = make_run({});
  const double last_read = analyse(run.info, run.ranks).steps[3].loss;
  for (auto& rank : run.ranks) {
    for (std::size_t i = 4; i < rank.steps.size(); ++i) {
      rank.steps[i].loss = rank.steps[i].gradient_norm = std::numeric_limits<double>::quiet_NaN();
    }
  }
  EXPECT_EQ(analyse(run.info, run.ranks).summary.loss_last, last_read);
  for (auto& rank : run.ranks) rank.steps[5].nonfinite = true;
  EXPECT_FALSE(analyse(run.info, run.ranks).summary.loss_last) << "read, and not a number";
}

TEST(RunAnalysis, NonsenseIsCountedAndLeftOut) {
  const auto run = make_run({});
  const auto clean = analyse(run.info, run.ranks);
  model::Batch nonsense;
  auto reversed = all_reduce(0, 900, 500, 400, 64);
  auto foreign = all_reduce(1 << 30, 901, 100, 200, 64);
  auto negative = all_reduce(0, 902, 100, 200, -64);
  nonsense.collectives = {reversed, foreign, negative};
  nonsense.events = {
      {0, 1, model::EventKind::kOperator, {operator_event(100, 50)}},
      {0, 1, model::EventKind::kOperator, {operator_event(INT64_MAX - 5, INT64_MAX)}},
      {-3, 1, model::EventKind::kOperator, {operator_event(1, 2)}}};
  nonsense.spans = {{0, 0, 0, base::Phase::kForward, 0, 0, 70, 60}};
  auto negative_step = run.ranks[0].steps[0], endless_step = negative_step;
  negative_step.index = -1;
  endless_step.index = INT64_MAX;
  auto foreign_step = endless_step;
  foreign_step.rank = 77;
  nonsense.steps = {negative_step, endless_step, foreign_step};
  model::MemorySample sample;
  sample.time_ns = 5;
  sample.bytes[0] = -1;
  nonsense.memory = {sample};
  nonsense.buckets = {{0, 1, 1 << 30, 5, {}, {}}};
  nonsense.process_groups = {{0, 9, 0, 0, {5, 5, -1}}};
  nonsense.lost = {{0, "queue full", -7}};
  auto batches = run.ranks;
  batches.push_back(nonsense);
  auto figures = analyse(run.info, batches);
  EXPECT_EQ(figures.ignored_rows, 14);
  figures.ignored_rows = 0;
  EXPECT_EQ(dump(figures), dump(clean));
}

TEST(RunAnalysis, RanksOfAnUnknownWorldAreCountedAsTheyAppear) {
  const auto run = make_run({});
  auto info = run.info;
  info.world_size = 0;
  const auto figures = analyse(info, run.ranks);
  EXPECT_EQ(figures.ranks.size(), 2u);
  EXPECT_EQ(figures.summary.steps_measured, 4);
}

}  // namespace
}  // namespace shardlens::trace::analysis
