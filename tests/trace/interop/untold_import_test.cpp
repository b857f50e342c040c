#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/trace/interop/fsdp_traces.h"
#include "tests/trace/interop/kineto_traces.h"
#include "trace/model/untold.h"

namespace shardlens::trace::interop {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string of_world(int rank, int world_size) {
  return "\"backend\":\"gloo\",\"rank\":" + std::to_string(rank) +
         ",\"world_size\":" + std::to_string(world_size);
}

// A rank of two that adds something up in each step of 1000 µs. Rank 1 comes 30 µs after rank 0,
// from step 5 on 70 µs, and both leave 100 µs after it.
// Its clock is `ahead_us` ahead.
std::vector<std::string> steps_of_rank(int rank, int first, int last, bool are_marked = true,
                                       double ahead_us = 0) {
  std::vector<std::string> events;
  for (int step = first; step <= last; ++step) {
    const double t = 1000.0 * step + ahead_us, late = step < 5 ? 30 : 70;
    const double start = t + 200 + (rank == 1 ? late : 0);
    const std::string name = "ProfilerStep#" + std::to_string(step);
    if (are_marked) events.push_back(complete("user_annotation", name, "77", t, 990));
    events.push_back(complete("cpu_op", "aten::mm", "77", t, 150));
    events.push_back(complete("user_annotation", "gloo:all_reduce", "88", start,
                              t + 300 + late - start,
                              "\"Input Dims\":[[1000]],\"Input type\":[\"float\"]"));
    events.push_back(complete("user_annotation", "Optimizer.step#SGD.step", "77", t + 500, 400));
  }
  return events;
}

class UntoldImport : public KinetoImport {
 protected:
  static std::set<std::pair<int, std::int64_t>> groups_and_numbers(const Run& run) {
    std::set<std::pair<int, std::int64_t>> found;
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& row : batch.collectives) {
        found.emplace(row.process_group, row.sequence);
      }
    }
    return found;
  }
};

// Of what exchanges nothing, nobody misses buckets.
TEST_F(UntoldImport, OnlyOfRanksThatExchangeSomethingBucketsAreMissed) {
  const auto logs_of = [&](bool exchange) {
    std::vector<std::string> traces;
    for (const int rank : {0, 1}) {
      auto events = steps_of_rank(rank, 2, 6);
      std::erase_if(events, [&](const std::string& event) {
        return !exchange && event.find("gloo:") != std::string::npos;
      });
      traces.push_back(trace_of(events, of_world(rank, 2)));
    }
    std::vector<std::string> texts;
    for (const model::Batch& batch : open(import_of(traces).folder).batches) {
      for (const model::LogLine& line : batch.log) texts.push_back(line.text);
    }
    return texts;
  };
  const auto missed = Contains(HasSubstr(std::string(model::kNoBucketPlan)));
  EXPECT_THAT(logs_of(true), missed);
  EXPECT_THAT(logs_of(false), Not(missed));
}

TEST_F(UntoldImport, RanksOfDifferentStepsWaitedInThoseThatBothRecorded) {
  const auto imported = import_of({trace_of(steps_of_rank(0, 2, 6), of_world(0, 2)),
                                   trace_of(steps_of_rank(1, 3, 7), of_world(1, 2))});
  EXPECT_THAT(imported.warnings,
              Contains(HasSubstr("rank 0 in steps 2 to 6, rank 1 in steps 3 to 7. What they did "
                                 "together, and how long they waited for each other, is known of "
                                 "steps 3 to 6 alone")));
  const Run run = open(imported.folder);
  EXPECT_EQ(run.figures.summary.steps_measured, 4);
  // Rank 0 waits 30 µs in steps 3 and 4, 70 µs in 5 and 6, rank 1 never.
  EXPECT_EQ(run.figures.summary.exposed_wait_ns, 25'000);
  ASSERT_EQ(run.figures.collectives.size(), 1u);
  EXPECT_EQ(run.figures.collectives[0].matched, 8);
  EXPECT_EQ(run.figures.collectives[0].transfer_ns, 100'000);
  EXPECT_EQ(run.figures.collectives[0].wait_ns, 25'000);
}

TEST_F(UntoldImport, RanksOfTheSameStepsHaveNothingToSay) {
  const auto imported = import_of({trace_of(steps_of_rank(0, 3, 6), of_world(0, 2)),
                                   trace_of(steps_of_rank(1, 3, 6), of_world(1, 2))});
  EXPECT_TRUE(imported.warnings.empty());
  EXPECT_EQ(open(imported.folder).figures.summary.exposed_wait_ns, 25'000);
}

// As those of two machines do.
TEST_F(UntoldImport, RanksWhoseClocksContradictEachOtherTellNoWaits) {
  const auto run_with = [&](double ahead_us) {
    const std::vector traces{trace_of(steps_of_rank(0, 3, 9), of_world(0, 2)),
                             trace_of(steps_of_rank(1, 3, 9, true, ahead_us), of_world(1, 2))};
    return open(import_of(traces).folder).figures;
  };
  const auto near = run_with(40), far = run_with(400);
  EXPECT_TRUE(near.summary.exposed_wait_ns);
  EXPECT_FALSE(near.clocks) << "may be one";
  EXPECT_EQ(near.collectives.at(0).matched, 14);
  EXPECT_FALSE(far.summary.exposed_wait_ns);
  EXPECT_EQ(far.summary.wait_doubt, analysis::WaitDoubt::kClockError);
  EXPECT_EQ(far.collectives.at(0).matched, 0) << "neither wait nor transfer";
}

TEST_F(UntoldImport, RanksWithoutACommonStepAreNotHeldAgainstEachOther) {
  const auto imported = import_of({trace_of(steps_of_rank(0, 2, 4), of_world(0, 2)),
                                   trace_of(steps_of_rank(1, 7, 9), of_world(1, 2))});
  EXPECT_THAT(imported.warnings, Contains(HasSubstr("They have none in common, so nothing tells")));
  const Run run = open(imported.folder);
  EXPECT_FALSE(run.figures.summary.exposed_wait_ns);
  EXPECT_EQ(run.figures.collectives[0].matched, 0);
  EXPECT_EQ(groups_and_numbers(run).size(), 6u) << "no two are the same call";
}

TEST_F(UntoldImport, HowManyRanksThereAreIsNotWhatWasGiven) {
  for (const int given : {1, 2}) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < given; ++rank) {
      traces.push_back(trace_of(steps_of_rank(rank, 3, 6), ""));
    }
    const auto imported = import_of(traces);
    EXPECT_THAT(imported.warnings, Contains(std::string(model::kUnknownRanks)));
    const Run run = open(imported.folder);
    EXPECT_EQ(run.figures.info.world_size, 0);
    EXPECT_EQ(run.figures.info.recorded_ranks, given);
    EXPECT_EQ(std::ssize(run.figures.ranks), given);
    EXPECT_EQ(run.figures.summary.steps_measured, 4);
    EXPECT_GT(run.figures.summary.exposed_ns, 0);
    EXPECT_FALSE(run.figures.summary.exposed_wait_ns);
    EXPECT_FALSE(run.figures.summary.bytes_sent_per_step);
    EXPECT_FALSE(run.figures.collectives[0].busbw_bytes_per_s > 0);
    EXPECT_THAT(groups_and_numbers(run), testing::ElementsAre(std::pair(-1, -1)));
  }
}

TEST_F(UntoldImport, UnitsAreNotKnownWhereNothingTellsHowManyRanksShareThem) {
  const auto forget_ranks = [](std::string& text) {
    text.replace(text.find("distributed"), 11, "no");
  };
  for (const bool on_gpu : {false, true}) {
    const FsdpJob job{.units = {1000, 4000, 4000}, .on_gpu = on_gpu, .has_shapes = on_gpu};
    const auto imported = import_changed<FsdpTraceWriter>(job, forget_ranks);
    const Run run = open(imported.folder);
    EXPECT_EQ(run.figures.info.world_size, 0);
    EXPECT_TRUE(run.figures.units.empty());
    EXPECT_FALSE(run.figures.summary.exposed_wait_ns);
    EXPECT_GT(run.figures.summary.exposed_ns, 0);
    std::string log;
    for (const model::Batch& batch : run.batches) {
      for (const model::LogLine& line : batch.log) log += line.text;
    }
    EXPECT_THAT(log, HasSubstr("how many ranks share them"));
  }
}

TEST_F(UntoldImport, OfAGroupThatIsNotKnownNothingIsClaimed) {
  const auto trace = [](int rank) {
    return trace_of(steps_of_rank(rank, 3, 6),
                    of_world(rank, 2) +
                        ",\"pg_config\":["
                        "{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"ranks\":[0,1]},"
                        "{\"pg_name\":\"1\",\"pg_desc\":\"mesh\",\"ranks\":[" +
                        std::to_string(rank) + "]}]");
  };
  // They might be sums of each rank with itself.
  const auto imported = import_of({trace(0), trace(1)});
  EXPECT_THAT(imported.warnings, Contains(std::string(model::kUnknownGroups)));
  const Run run = open(imported.folder);
  EXPECT_FALSE(run.figures.summary.exposed_wait_ns);
  EXPECT_FALSE(run.figures.summary.bytes_sent_per_step);
  EXPECT_EQ(run.figures.collectives[0].matched, 0);
  EXPECT_EQ(run.figures.ranks[0].recent_completed.at(0).process_group, -1);
}

TEST_F(UntoldImport, StepsThatAreNotMarkedEndWithTheOptimizers) {
  const auto imported = import_of({trace_of(steps_of_rank(0, 3, 6, false), of_world(0, 2)),
                                   trace_of(steps_of_rank(1, 3, 6, false), of_world(1, 2))});
  EXPECT_THAT(imported.warnings,
              testing::ElementsAre(HasSubstr("No steps are marked: each is taken "
                                             "to end with its optimizer's")));
  const Run run = open(imported.folder);
  EXPECT_THAT(run.figures.ranks[0].info.sources, HasSubstr(std::string(model::kStepsOfOptimizer)));
  ASSERT_EQ(run.figures.steps.size(), 4u);
  EXPECT_EQ(run.figures.steps[0].ranks[0].step_ns, 900'000) << "from the first event";
  EXPECT_EQ(run.figures.steps[1].ranks[0].step_ns, 1'000'000);
  EXPECT_EQ(run.figures.summary.steps_measured, 3) << "the first may be the program's first";
}

// Of how many steps from which on how many are measured.
TEST_F(UntoldImport, StepsThatNoScheduleLeftOutBeginWithWarmUp) {
  const auto measured = [&](int first, int last, bool are_marked = true) {
    const std::vector traces{trace_of(steps_of_rank(0, first, last, are_marked), of_world(0, 2)),
                             trace_of(steps_of_rank(1, first, last, are_marked), of_world(1, 2))};
    return open(import_of(traces).folder).figures.summary.steps_measured;
  };
  EXPECT_EQ(measured(0, 9), 7);
  EXPECT_EQ(measured(0, 5), 4) << "as many as a prediction needs";
  EXPECT_EQ(measured(0, 3), 3);
  EXPECT_EQ(measured(0, 1), 1);
  EXPECT_EQ(measured(0, 0), 1);
  EXPECT_EQ(measured(1, 9), 9) << "a schedule has left step 0 out";
  EXPECT_EQ(measured(4, 13, false), 7) << "nobody has";
}

TEST_F(UntoldImport, WhichOfTwoOptimizersEndsAStepIsNotKnown) {
  auto events = steps_of_rank(0, 3, 6, false);
  events.push_back(complete("user_annotation", "Optimizer.step#AdamW.step", "77", 6910, 10));
  const auto imported = import_of({trace_of(events, of_world(0, 1))});
  EXPECT_THAT(imported.warnings,
              testing::ElementsAre(HasSubstr("all that was recorded counts as one")));
  const Run run = open(imported.folder);
  ASSERT_EQ(run.figures.steps.size(), 1u);
  EXPECT_EQ(run.figures.steps[0].ranks[0].step_ns, 3'920'000);
}

}  // namespace
}  // namespace shardlens::trace::interop
