// Where the rules about ranks and data must speak, and where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trace/advice/advised_run.h"

namespace shardlens::trace::advice {
namespace {

using ::testing::HasSubstr;

void set_phase(analysis::StepBreakdown& own, base::Phase phase, std::int64_t ns) {
  own.phase_ns[static_cast<std::size_t>(phase)] = ns;
}

void set_exposed(analysis::StepBreakdown& own, base::Phase phase, std::int64_t ns) {
  own.exposed_phase_ns[static_cast<std::size_t>(phase)] = ns;
}

AdvisedRun with_waits(std::function<std::int64_t(std::int64_t, int)> wait_ns) {
  AdvisedRun run;
  run.predicts = false;
  run.wait_ns = std::move(wait_ns);
  run.breakdown = [](std::int64_t, int rank, analysis::StepBreakdown& own) {
    own.compute_ns = own.step_ns - 20 * kMs;
    own.comm_ns = own.exposed_ns = 20 * kMs;
    set_phase(own, base::Phase::kData, rank == 1 ? kMs : kMs / 2);
    set_phase(own, base::Phase::kForward, rank == 1 ? 52 * kMs : 40 * kMs);
  };
  return run;
}

TEST(StragglerRule, NamesTheRankAndItsPhase) {
  AdvisedRun run = with_waits([](std::int64_t step, int rank) {
    return rank == 0 ? 10 * kMs + step % 3 * kMs : std::int64_t{0};
  });
  const auto advice = of_rule(run.advise(), "straggler");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->title, "Find what makes rank 1 late in forward");
  EXPECT_THAT(advice->why, HasSubstr("52.0 ms, the others' 40.0 ms"));
  EXPECT_NEAR(advice->at_stake_ns, 11.0 * kMs, 0.1 * kMs);
  ASSERT_EQ(advice->evidence.size(), 3u);
  EXPECT_EQ(advice->evidence[0].step % 3, 2) << "where it was latest";
  EXPECT_EQ(advice->evidence[0].rank, 1);
  EXPECT_TRUE(advice->evidence[0].has_range());
  EXPECT_TRUE(advice->changes.empty());
}

TEST(StragglerRule, IsSilentWhereRanksAreLateInTurn) {
  std::mt19937 random(7);
  std::bernoulli_distribution first(0.5);
  std::vector<bool> late;
  for (int i = 0; i < 64; ++i) late.push_back(first(random));
  AdvisedRun run = with_waits([&](std::int64_t step, int rank) {
    return late[static_cast<std::size_t>(step)] == (rank == 0) ? 10 * kMs : std::int64_t{0};
  });
  run.job.steps = 64;
  EXPECT_FALSE(asked(run, "straggler"));
  AdvisedRun unknown = with_waits([](auto, auto) { return std::int64_t{-1}; });
  EXPECT_FALSE(asked(unknown, "straggler")) << "other ranks' records are missing";
}

TEST(StragglerRule, TakesNoWaitingOffWhatTheHostOfAGpuDid) {
  for (const std::string device : {"cpu", "cuda"}) {
    AdvisedRun run = with_waits([](std::int64_t step, int rank) {
      return rank == 0 ? 30 * kMs + step % 3 * kMs : std::int64_t{0};
    });
    const auto breakdown = run.breakdown;
    run.breakdown = [breakdown](std::int64_t step, int rank, analysis::StepBreakdown& own) {
      breakdown(step, rank, own);
      set_phase(own, base::Phase::kBackward, 50 * kMs);
      set_exposed(own, base::Phase::kBackward, rank == 0 ? 34 * kMs : 4 * kMs);
    };
    run.change = [device](analysis::RunFigures& figures) { figures.info.device = device; };
    const auto advice = asked(run, "straggler");
    ASSERT_TRUE(advice);
    EXPECT_THAT(advice->title, HasSubstr(device == "cpu" ? "in backward" : "in forward"));
  }
}

// Rank 1 takes 12 ms longer in a phase, at whose end the other waits for it: both are through with
// it at the same time. Of shards it is a gather that is waited for in forward, of DDP the sum of
// the next step's first gradients.
TEST(StragglerRule, TakesWaitingOffThePhaseInWhichTheOthersWait) {
  for (const auto late : {base::Phase::kForward, base::Phase::kBackward, base::Phase::kOptimizer}) {
    AdvisedRun run = with_waits([](std::int64_t step, int rank) {
      return rank == 0 ? 12 * kMs + step % 3 * kMs : std::int64_t{0};
    });
    run.breakdown = [late](std::int64_t, int rank, analysis::StepBreakdown& own) {
      for (const auto phase :
           {base::Phase::kForward, base::Phase::kBackward, base::Phase::kOptimizer}) {
        set_phase(own, phase, 50 * kMs);
      }
      own.compute_ns = own.step_ns - 20 * kMs;
      own.comm_ns = own.exposed_ns = rank == 0 ? 14 * kMs : 2 * kMs;
      set_exposed(own, late, own.exposed_ns);
    };
    const auto advice = asked(run, "straggler");
    ASSERT_TRUE(advice);
    EXPECT_THAT(advice->title, HasSubstr("in " + std::string(base::to_string(late))));
    EXPECT_THAT(advice->why, HasSubstr("48.0 ms, the others' 36.0 ms"));
  }
}

// As of four ranks on one H200: it grows from step to step, so that nobody knows the mean.
TEST(StragglerRule, NamesARankThatIsLateInEveryStepHoweverMuchThatDrifts) {
  const auto growing = [](std::int64_t but) {
    return with_waits([but](std::int64_t step, int rank) {
      return rank == 0 && step != but ? (5 + step) * kMs : std::int64_t{0};
    });
  };
  AdvisedRun always = growing(-1);
  EXPECT_TRUE(asked(always, "straggler"));
  AdvisedRun but_once = growing(9);
  EXPECT_FALSE(asked(but_once, "straggler"));
  AdvisedRun few = growing(-1);
  few.job.steps = 7;
  EXPECT_FALSE(asked(few, "straggler"));
}

AdvisedRun waiting_for_data(std::int64_t first_ns, std::int64_t second_ns) {
  AdvisedRun run;
  run.predicts = false;
  run.breakdown = [=](std::int64_t step, int rank, analysis::StepBreakdown& own) {
    own.compute_ns = own.step_ns;
    set_phase(own, base::Phase::kData, (rank == 0 ? first_ns : second_ns) + (step == 5 ? kMs : 0));
  };
  return run;
}

TEST(LateDataRule, SpeaksWhereAllRanksWaitForTheirBatch) {
  AdvisedRun run = waiting_for_data(20 * kMs, 22 * kMs);
  const auto advice = asked(run, "late_data");
  ASSERT_TRUE(advice);
  EXPECT_NEAR(advice->at_stake_ns, 20.05 * kMs, 0.01 * kMs);
  EXPECT_EQ(advice->evidence.front().step, 5);
  EXPECT_EQ(advice->evidence.front().rank, 1);
  AdvisedRun one = waiting_for_data(kMs / 2, 22 * kMs);
  EXPECT_FALSE(asked(one, "late_data")) << "that is a straggler";
  AdvisedRun ready = waiting_for_data(kMs / 2, kMs / 2);
  EXPECT_FALSE(asked(ready, "late_data"));
}

}  // namespace
}  // namespace shardlens::trace::advice
