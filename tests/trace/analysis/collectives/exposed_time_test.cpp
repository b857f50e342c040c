#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/units.h"
#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::analysis {
namespace {

model::Step step_of(int rank, std::int64_t index, std::int64_t start_ns, std::int64_t end_ns) {
  model::Step step;
  step.rank = rank;
  step.index = index;
  step.start_ns = start_ns;
  step.end_ns = end_ns;
  step.full_detail = true;
  return step;
}

// Each step takes 200 ms. Rank 0 computes for 40 ms and enters the all-reduce then, rank 1 `late`
// later; both leave it 30 ms after that. Rank 0 has computed for 10 ms while it waits.
RunFigures straggling_run(std::int64_t late_ns, bool has_rank_1 = true) {
  model::RunInfo info;
  info.world_size = 2;
  info.settings.skip_steps = 0;
  RunAnalysis analysis(info);
  for (std::int64_t index = 0; index < 4; ++index) {
    const std::int64_t begin = 1000 * kMs + index * 200 * kMs;
    for (int rank = 0; rank < (has_rank_1 ? 2 : 1); ++rank) {
      model::Batch batch;
      const auto enters = begin + 40 * kMs + (rank == 1 ? late_ns : 0);
      const auto leaves = begin + 70 * kMs + late_ns;
      batch.collectives.push_back(all_reduce(rank, index, enters, leaves, 1000, 0, index));
      model::EventRun compute{
          rank, 1, model::EventKind::kOperator, {operator_event(begin, enters)}};
      if (rank == 0) {
        compute.events.push_back(operator_event(enters + 10 * kMs, enters + 20 * kMs));
      }
      batch.events.push_back(std::move(compute));
      batch.steps.push_back(step_of(rank, index, begin, begin + 200 * kMs));
      analysis.add(batch);
    }
  }
  return analysis.figures();
}

TEST(ExposureSplit, ARankThatComesLateIsWaitedForAndItsTransferIsNot) {
  const auto run = straggling_run(60 * kMs);
  ASSERT_EQ(run.steps.size(), 4u);
  for (const auto& step : run.steps) {
    // Rank 0: 90 ms in the call, 10 of them computing, 60 before rank 1 came.
    EXPECT_EQ(step.ranks[0].exposed_ns, 80 * kMs);
    EXPECT_EQ(step.exposed_wait_of(0), 50 * kMs);
    EXPECT_EQ(step.ranks[1].exposed_ns, 30 * kMs);
    EXPECT_EQ(step.exposed_wait_of(1), 0);
  }
  EXPECT_DOUBLE_EQ(run.ranks[0].exposed_wait_ns.value(), 50 * kMs);
  EXPECT_DOUBLE_EQ(run.ranks[1].exposed_wait_ns.value(), 0);
  EXPECT_DOUBLE_EQ(run.summary.exposed_wait_ns.value(), 25 * kMs);
  EXPECT_DOUBLE_EQ(run.summary.exposed_ns, 55 * kMs);
}

// As files are read whose ranks have unequally many events a step: one comes ahead of the other.
TEST(ExposureSplit, IsKnownHoweverFarARankIsReadAheadOfTheOther) {
  constexpr std::int64_t kSteps = 1500;
  model::RunInfo info;
  info.world_size = 2;
  info.settings.skip_steps = 0;
  RunAnalysis analysis(info);
  for (int rank = 0; rank < 2; ++rank) {
    for (std::int64_t index = 0; index < kSteps; ++index) {
      const std::int64_t begin = 1000 * kMs + index * 10 * kMs;
      model::Batch batch;
      batch.collectives = {
          all_reduce(rank, index, begin + (1 + 3 * rank) * kMs, begin + 6 * kMs, 1000, 0, index)};
      batch.steps = {step_of(rank, index, begin, begin + 10 * kMs)};
      analysis.add(batch);
    }
  }
  const auto run = analysis.figures();
  EXPECT_EQ(run.steps.front().exposed_wait_of(0), 3 * kMs);
  EXPECT_DOUBLE_EQ(run.summary.exposed_wait_ns.value(), 1.5 * kMs);
}

TEST(ExposureSplit, NobodyLateIsAllTransfer) {
  const auto run = straggling_run(0);
  EXPECT_DOUBLE_EQ(run.summary.exposed_wait_ns.value(), 0);
  EXPECT_GT(run.summary.exposed_ns, 0);
}

// Rank 0 is in the call for 30 ms, and 20 ms later rank 1 is, by their clocks.
RunFigures run_whose_calls_do_not_meet(model::CollectiveFunction function) {
  model::RunInfo info;
  info.world_size = 2;
  info.settings.skip_steps = 0;
  RunAnalysis analysis(info);
  for (std::int64_t index = 0; index < 4; ++index) {
    const std::int64_t begin = 1000 * kMs + index * 200 * kMs;
    for (int rank = 0; rank < 2; ++rank) {
      model::Batch batch;
      const auto enters = begin + 40 * kMs + rank * 50 * kMs;
      model::Collective call = all_reduce(rank, index, enters, enters + 30 * kMs, 1000, 0, index);
      call.function = call.executed = function;
      batch.collectives.push_back(call);
      batch.steps.push_back(step_of(rank, index, begin, begin + 200 * kMs));
      analysis.add(batch);
    }
  }
  return analysis.figures();
}

TEST(ExposureSplit, WhatEndsAfterAllBeganAndSeemsNotToWasAllWaiting) {
  const auto reduced = run_whose_calls_do_not_meet(model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(reduced.steps.at(0).exposed_wait_of(0), 30 * kMs);
  EXPECT_EQ(reduced.steps.at(0).exposed_wait_of(1), 0);
  const auto sent = run_whose_calls_do_not_meet(model::CollectiveFunction::kBroadcast);
  EXPECT_EQ(sent.steps.at(0).exposed_wait_of(0), 0) << "the root goes on";
}

// As above, without computing; before that both are in eight calls of 1 ms, so that clocks of two
// hosts are known to be no more than 1 ms apart.
RunFigures run_on_hosts(std::int64_t late_ns, const std::string& first, const std::string& second) {
  constexpr std::int64_t kShortCalls = 8;
  model::RunInfo info;
  info.world_size = 2;
  info.settings.skip_steps = 0;
  RunAnalysis analysis(info);
  for (std::int64_t index = 0; index < 4; ++index) {
    const std::int64_t begin = 1000 * kMs + index * 200 * kMs;
    for (int rank = 0; rank < 2; ++rank) {
      model::Batch batch;
      batch.rank_info.emplace().rank = rank;
      batch.rank_info->host = rank == 0 ? first : second;
      std::int64_t sequence = index * (kShortCalls + 1);
      for (std::int64_t i = 0; i < kShortCalls; ++i) {
        const auto enters = begin + 2 * i * kMs;
        batch.collectives.push_back(
            all_reduce(rank, sequence++, enters, enters + kMs, 8, 0, index));
      }
      batch.collectives.push_back(all_reduce(rank, sequence, begin + 40 * kMs + rank * late_ns,
                                             begin + 70 * kMs + late_ns, 1000, 0, index));
      batch.steps.push_back(step_of(rank, index, begin, begin + 200 * kMs));
      analysis.add(batch);
    }
  }
  return analysis.figures();
}

TEST(ExposureSplit, WaitingThatClocksOfHostsCouldMakeUpIsNotKnown) {
  // Nine calls, each of which the clocks may put off by 1 ms.
  const auto little = run_on_hosts(8 * kMs, "a", "b");
  EXPECT_FALSE(little.ranks[0].exposed_wait_ns);
  EXPECT_FALSE(little.steps[0].exposed_wait_of(0));
  EXPECT_FALSE(little.summary.exposed_wait_ns);
  EXPECT_EQ(little.summary.wait_doubt, WaitDoubt::kClockError);
  EXPECT_GT(little.summary.exposed_ns, 30 * kMs);

  const auto much = run_on_hosts(60 * kMs, "a", "b");
  EXPECT_DOUBLE_EQ(much.ranks[0].exposed_wait_ns.value(), 60 * kMs);
  EXPECT_DOUBLE_EQ(much.steps[0].exposed_wait_of(0).value(), 60 * kMs);
  EXPECT_FALSE(much.ranks[1].exposed_wait_ns) << "0, give or take 9 ms";
  EXPECT_DOUBLE_EQ(much.summary.exposed_wait_ns.value(), 30 * kMs);
}

// Rank 2 on another host than ranks 0 and 1, with which it shares but broadcasts, of which each
// ends by itself. Its clock is wrong by `ahead_ns`. Nobody waits for anybody.
RunFigures run_with_broadcasts(std::int64_t ahead_ns, const std::string& third_host,
                               bool meets_rank_1 = false) {
  model::RunInfo info;
  info.world_size = 3;
  info.settings.skip_steps = 0;
  RunAnalysis analysis(info);
  for (int rank = 0; rank < 3; ++rank) {
    model::Batch batch;
    batch.rank_info.emplace().rank = rank;
    batch.rank_info->host = rank < 2 ? "a" : third_host;
    batch.process_groups = {{rank, 0, 0, 0, {0, 1, 2}}};
    if (rank > 0) batch.process_groups.push_back({rank, 1, 0, 0, {1, 2}});
    for (std::int64_t index = 0; index < 4; ++index) {
      const std::int64_t begin = 1000 * kMs + index * 200 * kMs + (rank == 2 ? ahead_ns : 0);
      model::Collective call =
          all_reduce(rank, index, begin + 40 * kMs, begin + 90 * kMs, 1000, 0, index);
      call.function = call.executed = model::CollectiveFunction::kBroadcast;
      batch.collectives.push_back(call);
      for (std::int64_t i = 0; i < 8 && meets_rank_1 && rank > 0; ++i) {
        model::Collective meeting = all_reduce(rank, index * 8 + i, begin + 2 * i * kMs,
                                               begin + (2 * i + 1) * kMs, 8, 0, index);
        meeting.process_group = 1;
        batch.collectives.push_back(meeting);
      }
      batch.steps.push_back(step_of(rank, index, begin, begin + 200 * kMs));
    }
    analysis.add(batch);
  }
  return analysis.figures();
}

TEST(ExposureSplit, WaitingBetweenClocksOfWhichNothingTellsIsNotKnown) {
  const auto apart = run_with_broadcasts(30 * kMs, "b");
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_FALSE(apart.ranks[rank].exposed_wait_ns) << rank;
    EXPECT_FALSE(apart.steps[0].exposed_wait_of(rank)) << rank;
  }
  EXPECT_FALSE(apart.summary.exposed_wait_ns);
  EXPECT_EQ(apart.summary.wait_doubt, WaitDoubt::kClocksUnknown);
  EXPECT_EQ(apart.collectives.at(0).matched, 0) << "neither wait nor transfer is known";
  const auto together = run_with_broadcasts(0, "a");
  EXPECT_DOUBLE_EQ(together.summary.exposed_wait_ns.value(), 0) << "one clock";
  EXPECT_EQ(together.summary.wait_doubt, WaitDoubt::kNone);
  EXPECT_EQ(together.collectives.at(0).matched, 12);
}

// Rank 0 shares no all-reduce with the other host, but its neighbour does.
TEST(ExposureSplit, ClocksAreComparedOverRanksThatShareNoCallWithAll) {
  const auto met = run_with_broadcasts(30 * kMs, "b", /*meets_rank_1=*/true);
  EXPECT_FALSE(met.steps[0].exposed_wait_of(0)) << "30 ms, of which the clocks may make up 31";
  EXPECT_EQ(met.steps[0].wait_error_ns[0], 31 * kMs);
}

TEST(ExposureSplit, RanksOfOneHostHaveOneClock) {
  for (const std::string host : {"a", ""}) {
    const auto run = run_on_hosts(8 * kMs, host, host);
    EXPECT_DOUBLE_EQ(run.ranks[0].exposed_wait_ns.value(), 8 * kMs);
    EXPECT_DOUBLE_EQ(run.ranks[1].exposed_wait_ns.value(), 0);
  }
}

TEST(ExposureSplit, WithoutTheOtherRanksRecordsNothingIsSaid) {
  const auto alone = straggling_run(60 * kMs, false);
  ASSERT_FALSE(alone.steps.empty());
  EXPECT_GT(alone.steps[0].ranks[0].exposed_ns, 0);
  EXPECT_FALSE(alone.steps[0].exposed_wait_of(0));
  EXPECT_FALSE(alone.summary.exposed_wait_ns);
  EXPECT_EQ(alone.steps[0].wait_doubt_of(0), WaitDoubt::kRecordsMissing);
  EXPECT_FALSE(alone.ranks[0].exposed_wait_ns);
}

// Nanosecond by nanosecond: in communication, under no compute, and no call moves data.
std::int64_t count_waiting(const SyntheticRun& run, std::size_t rank, const model::Step& step) {
  std::map<std::int64_t, std::int64_t> latest;
  for (const auto& other : run.ranks) {
    for (const auto& call : other.collectives) {
      auto& start = latest.try_emplace(call.sequence, INT64_MIN).first->second;
      start = std::max(start, call.start_ns);
    }
  }
  const model::Batch& own = run.ranks[rank];
  std::int64_t waiting = 0;
  for (auto t = step.start_ns; t < step.end_ns; ++t) {
    bool computes = false, communicates = false, moves = false;
    for (const auto& events : own.events) {
      for (const auto& event : events.events) {
        computes = computes || ((event.flags & model::kEventCompute) != 0 && event.start_ns <= t &&
                                t < event.end_ns());
      }
    }
    for (const auto& call : own.collectives) {
      if (t < call.start_ns || t >= call.end_ns) continue;
      communicates = true;
      const auto from = latest[call.sequence];
      moves = moves || t >= from;
    }
    waiting += communicates && !computes && !moves;
  }
  return waiting;
}

TEST(ExposureSplit, AgreesWithCountingInWhateverOrderRowsCome) {
  std::int64_t waited = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SyntheticOptions options;
    options.seed = seed;
    options.skip_steps = 0;
    const auto run = make_run(options);
    std::vector<model::Batch> rows;
    for (const auto& rank : run.ranks) {
      for (auto& row : one_by_one(rank)) rows.push_back(std::move(row));
    }
    for (const bool shuffled : {false, true}) {
      std::mt19937 random(seed);
      if (shuffled) std::shuffle(rows.begin(), rows.end(), random);
      RunAnalysis analysis(run.info);
      for (const auto& row : rows) analysis.add(row);
      const auto figures = analysis.figures();
      for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
        for (const auto& step : run.ranks[rank].steps) {
          const auto& found = figures.steps[static_cast<std::size_t>(step.index)];
          const auto expected = count_waiting(run, rank, step);
          EXPECT_EQ(found.exposed_wait_of(rank), static_cast<double>(expected))
              << "seed " << seed << " rank " << rank << " step " << step.index;
          waited += expected;
        }
      }
    }
  }
  EXPECT_GT(waited, 0);
}

}  // namespace
}  // namespace shardlens::trace::analysis
