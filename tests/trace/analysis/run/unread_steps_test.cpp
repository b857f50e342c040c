// Runs on GPUs whose records come buffer by buffer, long after the rows of their steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>

#include "tests/trace/analysis/synthetic_run.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kFirstStep = 1'700'000'000'000 * kMillisecond;
constexpr std::int64_t kStepEvery = 100 * kMillisecond;
enum Stream { kKernels = 1, kCalls, kCopies };
constexpr model::StringId kNccl = 1;

struct BurstOptions {
  std::int64_t steps = 40;
  std::int64_t detailed = INT64_MAX;  // so many of them, the first
  int per_buffer = 100;               // records
  unsigned seed = 1;
};

struct GpuRecord {
  Stream lane = kKernels;
  base::Interval time;
};

struct Commit {
  std::int64_t time_ns = 0;
  model::Batch batch;
};

model::RunInfo gpu_run(model::RunStatus status) {
  model::RunInfo info;
  info.device = "cuda";
  info.world_size = 2;
  info.settings.skip_steps = 1;
  info.status = status;
  return info;
}

// What a rank's streams did, each in order: kernels all the time, a copy when a step begins and
// three collectives, the last of which may reach into the next step.
std::vector<GpuRecord> records_of(const BurstOptions& options, std::int64_t begin_ns,
                                  std::mt19937& random) {
  const auto ms = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random) * kMillisecond;
  };
  std::vector<GpuRecord> records;
  for (std::int64_t step = 0; step < std::min(options.steps, options.detailed); ++step) {
    const std::int64_t start_ns = begin_ns + step * kStepEvery;
    records.push_back({kCopies, {start_ns + kMillisecond / 2, start_ns + kMillisecond}});
    for (std::int64_t at = start_ns + 2 * kMillisecond; at < start_ns + 90 * kMillisecond;
         at += ms(0, 1)) {
      const std::int64_t end_ns = at + ms(1, 8);
      records.push_back({kKernels, {at, end_ns}});
      at = end_ns;
    }
    for (const int after : {20, 50, 80}) {
      const std::int64_t at = start_ns + after * kMillisecond + ms(0, 5);
      records.push_back({kCalls, {at, at + ms(5, 25)}});
    }
  }
  std::ranges::sort(records, {}, [](const GpuRecord& record) { return record.time; });
  return records;
}

model::Batch buffer_of(int rank, std::span<const GpuRecord> records, std::int64_t& sequence) {
  model::Batch batch;
  for (const Stream lane : {kKernels, kCalls, kCopies}) {
    const auto kind = lane == kCopies ? model::EventKind::kCopy : model::EventKind::kKernel;
    model::EventRun run{rank, lane, kind, {}};
    for (const GpuRecord& record : records) {
      if (record.lane != lane) continue;
      run.events.push_back(operator_event(record.time.start_ns, record.time.end_ns, false));
      if (lane != kCalls) continue;
      run.events.back().name = kNccl;
      batch.collectives.push_back(
          all_reduce(rank, sequence++, record.time.start_ns, record.time.end_ns, 1'000));
      batch.collectives.back().lane = lane;
    }
    if (!run.events.empty()) batch.events.push_back(std::move(run));
  }
  return batch;
}

model::Batch host_rows_of(int rank, std::int64_t index, std::int64_t start_ns, bool detailed) {
  model::Batch batch;
  model::Step step;
  step.rank = rank;
  step.index = index;
  step.start_ns = start_ns;
  step.end_ns = start_ns + kStepEvery;
  step.full_detail = detailed;
  batch.steps = {step};
  batch.spans = {
      {rank, 0, index, base::Phase::kForward, 0, 0, start_ns, start_ns + 60 * kMillisecond}};
  return batch;
}

void add_rank(int rank, const BurstOptions& options, std::mt19937& random,
              std::vector<Commit>& commits) {
  const std::int64_t begin_ns = kFirstStep + rank * 3 * kMillisecond;
  model::Batch first;
  first.strings = {{rank, kNccl, "ncclDevKernel_AllReduce"}};
  first.rank_info = model::RankInfo{};
  first.rank_info->rank = rank;
  first.rank_info->device = "cuda:" + std::to_string(rank);
  commits.push_back({begin_ns, std::move(first)});
  for (std::int64_t index = 0; index < options.steps; ++index) {
    const std::int64_t start_ns = begin_ns + index * kStepEvery;
    commits.push_back(
        {start_ns + kStepEvery, host_rows_of(rank, index, start_ns, index < options.detailed)});
  }
  const std::vector<GpuRecord> records = records_of(options, begin_ns, random);
  std::int64_t sequence = 0, given_ns = 0;
  for (std::span<const GpuRecord> rest(records); !rest.empty();) {
    const auto buffer = rest.first(
        std::min(rest.size(), static_cast<std::size_t>(std::max(1, options.per_buffer))));
    rest = rest.subspan(buffer.size());
    for (const GpuRecord& record : buffer) given_ns = std::max(given_ns, record.time.end_ns);
    commits.push_back({given_ns, buffer_of(rank, buffer, sequence)});
  }
}

std::vector<Commit> commits_of(const BurstOptions& options) {
  std::mt19937 random(options.seed);
  std::vector<Commit> commits;
  for (int rank = 0; rank < 2; ++rank) add_rank(rank, options, random, commits);
  std::ranges::stable_sort(commits, {}, &Commit::time_ns);
  return commits;
}

RunFigures figures_in_the_end(const std::vector<Commit>& commits) {
  RunAnalysis analysis(gpu_run(model::RunStatus::kDone));
  for (const Commit& commit : commits) analysis.add(commit.batch);
  return analysis.figures();
}

bool is_shown(const StepFigures& step) { return step.complete && step.shows_detail(); }

std::int64_t shown_steps(const RunAnalysis& analysis) {
  return std::ranges::count_if(analysis.steps(), is_shown);
}

TEST(UnreadSteps, WhatIsShownOfAStepNeverChangesAfterwards) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    // From ten buffers a step to one in eight seconds.
    const int per_buffer = 2 << std::uniform_int_distribution(0, 10)(random);
    const BurstOptions options{.steps = 120, .per_buffer = per_buffer, .seed = seed};
    const std::vector<Commit> commits = commits_of(options);
    const RunFigures last = figures_in_the_end(commits);
    RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
    std::int64_t shown = 0;
    for (const Commit& commit : commits) {
      analysis.add(commit.batch);
      for (const StepFigures& step : analysis.steps()) {
        if (!is_shown(step)) continue;
        ASSERT_EQ(step.ranks, last.steps.at(static_cast<std::size_t>(step.index)).ranks)
            << "step " << step.index << ", seed " << seed << ", " << per_buffer << " records";
      }
      const std::int64_t now = shown_steps(analysis);
      ASSERT_GE(now, shown);
      shown = now;
    }
    EXPECT_GT(shown, 115) << "later records move all but the last steps on";
    analysis.set_info(gpu_run(model::RunStatus::kDone));
    EXPECT_EQ(dump(analysis.figures()), dump(last));
    EXPECT_EQ(last.ignored_rows, 0) << "none came too late to count";
  }
}

TEST(UnreadSteps, AreNotIdle) {
  RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
  std::vector<model::Batch> buffers;  // one of each rank
  for (const Commit& commit : commits_of({.steps = 12, .per_buffer = 1'000'000})) {
    if (!commit.batch.events.empty()) {
      buffers.push_back(commit.batch);
    } else {
      analysis.add(commit.batch);
    }
  }
  ASSERT_EQ(buffers.size(), 2u);
  RunFigures figures = analysis.figures();
  EXPECT_EQ(figures.summary.steps_measured, 11);
  EXPECT_EQ(figures.summary.step_ns.mean, kStepEvery);
  EXPECT_FALSE(figures.summary.has_detail);
  for (const StepFigures& step : figures.steps) {
    EXPECT_TRUE(step.awaits_detail());
    EXPECT_EQ(step.ranks[0].idle_ns, 0);
    EXPECT_EQ(step.ranks[0].phase_ns[static_cast<std::size_t>(base::Phase::kForward)],
              60 * kMillisecond);
  }
  analysis.add(buffers[0]);
  EXPECT_EQ(shown_steps(analysis), 0) << "the other rank's have not come";
  analysis.add(buffers[1]);
  figures = analysis.figures();
  EXPECT_EQ(figures.summary.steps_detailed, 10) << "all but the last";
  EXPECT_TRUE(figures.steps.back().awaits_detail());
  EXPECT_GT(figures.summary.compute_ns, kStepEvery / 2);
}

// What the last commit of a rank says that has left in order.
model::Batch closing_of(int rank) {
  model::Batch batch;
  batch.strings = {{rank, 2, std::string(model::kClosedInOrder)}};
  return batch;
}

TEST(UnreadSteps, OfARunThatIsDoneThereAreNone) {
  RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
  for (const Commit& commit : commits_of({.steps = 12})) analysis.add(commit.batch);
  EXPECT_TRUE(analysis.steps().back().awaits_detail());
  analysis.set_info(gpu_run(model::RunStatus::kDone));
  EXPECT_EQ(shown_steps(analysis), 12);
  analysis.expect_more(true);
  EXPECT_TRUE(analysis.steps().back().awaits_detail()) << "it is replayed";
  analysis.expect_more(false);
  EXPECT_EQ(shown_steps(analysis), 12);
}

TEST(UnreadSteps, OfARankThatHasLeftInOrderThereAreNone) {
  using enum model::RunStatus;
  for (const auto status : {kRunning, kStopped, kFailed, kIncomplete}) {
    RunAnalysis analysis(gpu_run(kRunning));
    for (const Commit& commit : commits_of({.steps = 12})) analysis.add(commit.batch);
    analysis.add(closing_of(0));
    analysis.set_info(gpu_run(status));
    const StepFigures& last = analysis.steps().back();
    EXPECT_TRUE(last.ranks[0].has_detail);
    EXPECT_TRUE(last.ranks[1].awaits_detail) << "nothing says that all of it is there";
    analysis.add(closing_of(1));
    EXPECT_EQ(shown_steps(analysis), 12);
  }
}

// A stream that was used only at the start says nothing of short steps that came after.
TEST(UnreadSteps, AreFewWhereShortStepsBreakOff) {
  constexpr std::int64_t kShortStep = 30 * kMillisecond;
  RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
  for (const int rank : {0, 1}) {
    model::Batch batch;
    batch.rank_info = model::RankInfo{};
    batch.rank_info->rank = rank;
    batch.rank_info->device = "cuda:0";
    const auto kernel = [&](Stream lane, std::int64_t start_ns, std::int64_t length_ns) {
      const auto event = operator_event(start_ns, start_ns + length_ns, false);
      batch.events.push_back({rank, lane, model::EventKind::kKernel, {event}});
    };
    kernel(kCopies, kFirstStep, kMillisecond);
    for (std::int64_t step = 0; step < 12; ++step) {
      const std::int64_t start_ns = kFirstStep + step * kShortStep;
      kernel(kKernels, start_ns, kShortStep - 2 * kMillisecond);
      batch.steps.push_back({.rank = rank,
                             .index = step,
                             .start_ns = start_ns,
                             .end_ns = start_ns + kShortStep,
                             .full_detail = true});
    }
    analysis.add(batch);
  }
  EXPECT_EQ(shown_steps(analysis), 0) << "more of that stream may be about to come";
  analysis.set_info(gpu_run(model::RunStatus::kFailed));
  EXPECT_EQ(shown_steps(analysis), 11);
}

// Rank 1 was killed with its GPU's records of a second or so in CUPTI's buffers, or the disk was
// full: of its last steps there are the rows, and some of the kernels.
TEST(UnreadSteps, OfARankThatWasKilledHaveNoDetail) {
  using enum model::RunStatus;
  for (const auto status : {kFailed, kIncomplete, kStopped}) {
    RunAnalysis analysis(gpu_run(kRunning));
    std::int64_t dropped_ns = INT64_MAX;
    for (const Commit& commit : commits_of({.steps = 40})) {
      const bool is_lost = !commit.batch.events.empty() && commit.batch.events[0].rank == 1 &&
                           commit.time_ns > kFirstStep + 30 * kStepEvery;
      if (is_lost) dropped_ns = std::min(dropped_ns, commit.batch.events[0].events[0].start_ns);
      if (!is_lost) analysis.add(commit.batch);
    }
    analysis.add(closing_of(0));
    analysis.set_info(gpu_run(status));
    ASSERT_EQ(analysis.steps().size(), 40u);
    EXPECT_TRUE(analysis.steps().back().ranks[0].has_detail);
    std::int64_t known = 0;
    for (const StepFigures& step : analysis.steps()) {
      const StepBreakdown& killed = step.ranks[1];
      EXPECT_NE(killed.has_detail, killed.awaits_detail) << "none was recorded without";
      if (killed.start_ns + killed.step_ns > dropped_ns) {
        EXPECT_FALSE(killed.has_detail) << step.index;
        EXPECT_EQ(killed.idle_ns, 0) << step.index;
      }
      EXPECT_GT(killed.phase_ns[static_cast<std::size_t>(base::Phase::kForward)], 0);
      known += killed.has_detail ? 1 : 0;
    }
    EXPECT_GE(known, 25) << "what was read before stays";
    EXPECT_EQ(analysis.figures().summary.steps_measured, 39);
    EXPECT_LE(analysis.figures().summary.steps_detailed, known);
  }
}

TEST(UnreadSteps, OnACpuThereAreNone) {
  RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
  for (Commit& commit : commits_of({.steps = 12, .per_buffer = 1'000'000})) {
    if (commit.batch.rank_info) commit.batch.rank_info->device = "cpu";
    analysis.add(commit.batch);
    for (const StepFigures& step : analysis.steps()) {
      EXPECT_FALSE(step.awaits_detail());
      EXPECT_TRUE(!step.complete || step.shows_detail());
    }
  }
}

TEST(UnreadSteps, WhereDetailsHaveEndedTheLastStepIsShownAfterAWhile) {
  RunAnalysis analysis(gpu_run(model::RunStatus::kRunning));
  const std::vector<Commit> commits = commits_of({.steps = 120, .detailed = 5});
  for (const Commit& commit : commits) {
    analysis.add(commit.batch);
    const auto& steps = analysis.steps();
    if (steps.size() < 6) continue;
    const bool is_over = steps.back().index > 105, is_near = steps.back().index > 103;
    if (is_near && !is_over) continue;
    EXPECT_EQ(steps[4].shows_detail(), is_over) << steps.back().index;
    EXPECT_FALSE(steps[5].awaits_detail()) << "it was recorded without";
  }
  EXPECT_EQ(shown_steps(analysis), 5);
}

}  // namespace
}  // namespace shardlens::trace::analysis
