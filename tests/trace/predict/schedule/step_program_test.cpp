#include "trace/predict/schedule/step_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/trace/predict/schedule/testing/event_player.h"

namespace shardlens::trace::predict {
namespace {

using What = Action::What;

constexpr Action compute(Until until, std::size_t place = 0, double share = 1) {
  return {What::kCompute, until, place, share};
}
constexpr Action forward_again(std::size_t from, std::size_t to, double share = 1) {
  return {What::kCompute, Until::kSecondForward, to, share, from};
}
constexpr Action launch(std::size_t call) { return {What::kLaunch, Until::kEnd, call}; }
constexpr Action mark(std::size_t index) { return {What::kMark, Until::kEnd, index}; }
constexpr Action wait_for(std::size_t call) { return {What::kWait, Until::kEnd, call}; }

PlannedCall call_of(std::int64_t transfer_ns, std::int64_t working_ns = 0, std::size_t lane = 0) {
  PlannedCall call;
  call.lane = lane;
  call.transfer_ns = transfer_ns;
  call.working_ns = working_ns;
  return call;
}

// Forward from 0 to 100, in two layers from 20 and from 50 to 80, backward until 300: the second
// layer's from 120 to 200, the first one's until 280, with a gradient at the end of each.
MicroBatchWork two_layers() {
  MicroBatchWork work;
  work.backward_begin = {100, 0};
  work.layers = {{{20, 0}, {50, 0}, {80, 0}}, {{120, 0}, {200, 0}, {280, 0}}};
  work.gradients = {{200, 0}, {280, 0}};
  work.end = {300, 0};
  return work;
}

StepWork step_of(std::vector<std::int64_t> starts, const MicroBatchWork& work) {
  StepWork step;
  for (const std::int64_t start : starts) {
    step.ranks.push_back({.start_ns = start, .micro_batches = {work}, .optimizer_ns = 40});
  }
  return step;
}

StepProgram program_of(std::vector<PlannedCall> calls, std::vector<Action> actions) {
  StepProgram program;
  program.calls = std::move(calls);
  program.micro_batches = {{0, std::move(actions)}};
  return program;
}

TEST(StepProgram, ComputesUpToTheMomentsOfTheRecordedStep) {
  const auto until = [](std::vector<Action> actions) {
    return schedule_step(step_of({1000}, two_layers()), program_of({}, std::move(actions)), 0)
        .end_ns;
  };
  EXPECT_EQ(until({compute(Until::kForward, 1)}), 1050);
  EXPECT_EQ(until({compute(Until::kBackward)}), 1100);
  EXPECT_EQ(until({compute(Until::kForward, 2)}), 1080) << "the end of the last";
  EXPECT_EQ(until({compute(Until::kLayerBackward, 0)}), 1120);
  EXPECT_EQ(until({compute(Until::kLayerBackward, 2)}), 1280);
  EXPECT_EQ(until({compute(Until::kGradient, 0)}), 1200);
  EXPECT_EQ(until({compute(Until::kEnd)}), 1300);
  EXPECT_EQ(until({compute(Until::kEnd), compute(Until::kForward, 0)}), 1300)
      << "what lies before is done";
}

// The second is launched at 20 and waits until the first has left the link at 60, not for its
// latency.
TEST(StepProgram, CallsOfAllLanesPassOneLink) {
  const StepWork step = step_of({0}, two_layers());
  const std::vector<Action> both{launch(0), compute(Until::kForward, 0), launch(1), wait_for(1)};
  PlannedCall first = call_of(70), second = call_of(10, 0, 1);
  first.link_ns = 60;
  EXPECT_EQ(schedule_step(step, program_of({first, second}, both), 0).calls[1],
            (CallTime{1, 20, 20, 30}))
      << "it passes none";
  second.link_ns = 5;
  const auto schedule = schedule_step(step, program_of({first, second}, both), 0);
  EXPECT_EQ(schedule.calls[0], (CallTime{0, 0, 0, 70}));
  EXPECT_EQ(schedule.calls[1], (CallTime{1, 20, 20, 70}));
  second.lane = 0;
  EXPECT_EQ(schedule_step(step, program_of({first, second}, both), 0).calls[1],
            (CallTime{1, 20, 70, 80}))
      << "a lane waits for latency, too";
}

// On a GPU: launched when ranks compute already, it began where the last of them was at the mark;
// the second is copied behind the first, on the stream of both.
TEST(StepProgram, AGathersStreamRunsBesideWhatRanksCompute) {
  PlannedCall gather = call_of(60), next = call_of(10, 0, 1);
  gather.behind_mark = next.behind_mark = 0;
  next.copy_ns = 5;
  const auto schedule = schedule_step(
      step_of({1000, 1030}, two_layers()),
      program_of({gather, next}, {compute(Until::kForward, 0), mark(0), compute(Until::kForward, 1),
                                  launch(0), launch(1), wait_for(1), compute(Until::kEnd)}),
      0);
  ASSERT_EQ(schedule.calls.size(), 2u);
  EXPECT_EQ(schedule.calls[0], (CallTime{0, 1050, 1050, 1110}));
  EXPECT_EQ(schedule.calls[1], (CallTime{1, 1055, 1115, 1125})) << "though its lane is another";
  EXPECT_EQ(schedule.end_ns, 1030 + 300 + 45) << "waited from 1080 on";
}

TEST(StepProgram, WaitsOnlyForWhatHasNotEnded) {
  const auto schedule =
      schedule_step(step_of({0}, two_layers()),
                    program_of({call_of(10), call_of(90)},
                               {launch(0), compute(Until::kForward, 0), wait_for(0), launch(1),
                                compute(Until::kForward, 1), wait_for(1), compute(Until::kEnd)}),
                    0);
  ASSERT_EQ(schedule.waits.size(), 1u);
  EXPECT_EQ(schedule.waits[0].start_ns, 50);
  EXPECT_EQ(schedule.waits[0].end_ns, 110);
  EXPECT_EQ(schedule.waits[0].call, 1u);
  EXPECT_EQ(schedule.waited_ns(), 60);
  EXPECT_EQ(schedule.end_ns, 360);
}

// 60 ns of work from 0 on, beside the 100 ns until backward begins.
TEST(StepProgram, ComputesSlowerBesideCommunication) {
  const auto until = [](double slowdown) {
    return schedule_step(step_of({0}, two_layers()),
                         program_of({call_of(80, 60)}, {launch(0), compute(Until::kBackward)}),
                         slowdown);
  };
  EXPECT_EQ(until(0).end_ns, 100);
  EXPECT_EQ(until(0.5).end_ns, 130) << "30 ns in the first 60";
  EXPECT_EQ(until(1).end_ns, 160) << "stands still";
  EXPECT_DOUBLE_EQ(until(0).contended_ns, 60);
  EXPECT_DOUBLE_EQ(until(1).contended_ns, 60);
}

// Launched at 100, where backward begins: 80 ns, of which 40 are waits for cores. Beside it ranks
// compute until 140, or they wait from its begin on.
TEST(StepProgram, WhatWaitsForNoCoreEndsSooner) {
  PlannedCall call = call_of(80);
  call.core_delay_ns = 40;
  const auto end_of = [&](std::vector<std::int64_t> starts, std::vector<Action> between) {
    std::vector<Action> actions{compute(Until::kBackward), launch(0)};
    actions.insert(actions.end(), between.begin(), between.end());
    actions.push_back(wait_for(0));
    return schedule_step(step_of(std::move(starts), two_layers()),
                         program_of({call}, std::move(actions)), 0)
        .calls.front()
        .end_ns;
  };
  EXPECT_EQ(end_of({0}, {}), 100 + 40) << "all of it is waited for";
  EXPECT_EQ(end_of({0}, {compute(Until::kGradient, 1)}), 100 + 80) << "computes beside all of it";
  EXPECT_EQ(end_of({0}, {compute(Until::kLayerBackward, 0), compute(Until::kGradient, 0, 0.25)}),
            100 + 80 - 20)
      << "waits for half of it, from 140 on";
  EXPECT_EQ(end_of({0, 20}, {compute(Until::kLayerBackward, 0)}), 120 + 80 - 30)
      << "launched by the last rank, which waits from 140 on, as the other one does";
}

// As where a transfer is taken to be as short as it may be: 30 ns, of which its link takes 10.
TEST(StepProgram, WhatWaitsForNoCoreTakesWhatItsLinkDoes) {
  PlannedCall call = call_of(30);
  call.core_delay_ns = 40;
  call.least_ns = 10;
  const auto schedule =
      schedule_step(step_of({0}, two_layers()),
                    program_of({call}, {compute(Until::kBackward), launch(0), wait_for(0)}), 0);
  EXPECT_EQ(schedule.calls.front(), (CallTime{0, 100, 100, 110}));
}

// The gather began at 20, before what worked from 50 to 60, and is launched when that has ended.
TEST(StepProgram, ComputesSlowerBesideAGatherThatBeganBeforeWhatHasEnded) {
  PlannedCall gather = call_of(200, 200);
  gather.behind_mark = 0;
  const auto schedule = schedule_step(
      step_of({0}, two_layers()),
      program_of({call_of(10, 10, 1), gather},
                 {compute(Until::kForward, 0), mark(0), compute(Until::kForward, 1), launch(0),
                  compute(Until::kForward, 2), launch(1), compute(Until::kBackward)}),
      0.5);
  EXPECT_EQ(schedule.calls[1], (CallTime{1, 20, 20, 220}));
  EXPECT_EQ(schedule.end_ns, 85 + 40) << "half as fast from 85 on";
  EXPECT_DOUBLE_EQ(schedule.contended_ns, 10 + 40);
}

// Of the 100 ns until backward 40 were beside communication: without it they are 100 − s · 40.
TEST(StepProgram, TakesWhatCommunicationTookOutOfTheRecordedWork) {
  MicroBatchWork work = two_layers();
  work.backward_begin.contended_ns = work.end.contended_ns = 40;
  const auto alone = [&](double slowdown) {
    return schedule_step(step_of({0}, work), program_of({}, {compute(Until::kBackward)}), slowdown)
        .end_ns;
  };
  EXPECT_EQ(alone(0), 100);
  EXPECT_EQ(alone(0.5), 80);
  EXPECT_EQ(alone(1), 60);
  const auto again = [&](double slowdown) {
    return schedule_step(step_of({0}, work),
                         program_of({call_of(40, 40)}, {launch(0), compute(Until::kBackward)}),
                         slowdown)
        .end_ns;
  };
  for (const double slowdown : {0.0, 0.5, 1.0}) EXPECT_EQ(again(slowdown), 100) << "as recorded";
}

TEST(StepProgram, WorkScalesWhatIsComputed) {
  StepProgram program = program_of({}, {compute(Until::kBackward), compute(Until::kEnd)});
  program.work = 2;
  EXPECT_EQ(schedule_step(step_of({0}, two_layers()), program, 0).end_ns, 600);
}

// Both layers' forwards take 30 ns.
TEST(StepProgram, ComputesForwardASecondTime) {
  const auto until = [](std::vector<Action> again, double work) {
    std::vector<Action> actions{compute(Until::kLayerBackward, 0)};
    actions.insert(actions.end(), again.begin(), again.end());
    actions.push_back(compute(Until::kLayerBackward, 1));
    StepProgram program = program_of({}, std::move(actions));
    program.work = work;
    return schedule_step(step_of({0}, two_layers()), program, 0).end_ns;
  };
  EXPECT_EQ(until({forward_again(0, 1)}, 1), 230);
  EXPECT_EQ(until({forward_again(0, 1)}, 2), 460);
  EXPECT_EQ(until({forward_again(0, 1), forward_again(1, 2)}, 1), 260);
  EXPECT_EQ(until({forward_again(0, 2)}, 1), 260);
}

TEST(StepProgram, LeavesOutWhatIsNotComputedAnyMore) {
  const auto program =
      program_of({}, {compute(Until::kLayerBackward, 0), compute(Until::kLayerBackward, 1, 0),
                      compute(Until::kLayerBackward, 2)});
  EXPECT_EQ(schedule_step(step_of({0}, two_layers()), program, 0).end_ns, 200);
}

TEST(StepProgram, UpdatesBehindTheLastMicroBatch) {
  StepProgram program = program_of({call_of(10)}, {compute(Until::kEnd)});
  program.update = {launch(0), wait_for(0), compute(Until::kUpdate, 0, 0.25)};
  const auto schedule = schedule_step(step_of({0, 5}, two_layers()), program, 0);
  EXPECT_EQ(schedule.end_ns, 305 + 10 + 10);
  EXPECT_EQ(schedule.backward_end_ns, 305)
      << "of rank 1, which ends as the other does and waited less";
}

TEST(StepProgram, RanksComputeAtTheirPace) {
  StepProgram program = program_of({call_of(10)}, {compute(Until::kEnd), launch(0), wait_for(0)});
  program.update = {compute(Until::kUpdate)};
  const StepWork step = step_of({0, 5}, two_layers());
  const RankWork *first = &step.ranks[0], *second = &step.ranks[1];
  const auto schedule = schedule_step({{first, 0}, {second, 5}, {first, 7, 2}}, program, 0);
  EXPECT_EQ(schedule.end_ns, 7 + 600 + 10 + 80);
  EXPECT_EQ(schedule.rank, 2);
  EXPECT_EQ(schedule.start_ns, 7);
  EXPECT_DOUBLE_EQ(schedule.exposed_ns, (317 + 312 + 10) / 3.0);
  EXPECT_DOUBLE_EQ(schedule.mean_ns, (617 + 40 + 612 + 40 + 610 + 80) / 3.0);
}

TEST(StepProgram, MicroBatchesRepeatRecordedOnes) {
  std::vector<std::size_t> likes;
  for (std::size_t i = 0; i < 5; ++i) likes.push_back(recorded_like(i, 5, 3));
  EXPECT_EQ(likes, (std::vector<std::size_t>{0, 1, 1, 1, 2}));
  EXPECT_EQ(recorded_like(0, 1, 3), 2u);
  EXPECT_EQ(recorded_like(0, 2, 3), 0u);
  EXPECT_EQ(recorded_like(1, 4, 1), 0u);
}

TEST(StepProgram, OfNoRankIsNothing) {
  EXPECT_EQ(schedule_step(StepWork{}, program_of({}, {compute(Until::kEnd)}), 0).end_ns, 0);
}

// ---- drawn ------------------------------------------------------------------------------------

struct Drawn {
  StepWork step;
  StepProgram program;
  std::vector<PlayedRank> ranks;
  std::vector<PlayedCall> calls;
};

// Programs of gradients: between two of them anything may be launched or waited for.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  double slowdown() {
    constexpr double kSlowdowns[] = {0, 0.25, 0.5, 0.8, 1};
    return kSlowdowns[upto(4)];
  }

  Drawn program() {
    Drawn drawn;
    const std::size_t ranks = 1 + upto(3), moments = 1 + upto(9), micro_batches = 1 + upto(2);
    drawn.ranks.resize(ranks);
    drawn.step.ranks.resize(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      RankWork& work = drawn.step.ranks[r];
      work.start_ns = 1000 + static_cast<std::int64_t>(upto(500));
      work.optimizer_ns = static_cast<std::int64_t>(upto(300));
      drawn.ranks[r].begin_ns = static_cast<double>(work.start_ns);
      for (std::size_t m = 0; m < micro_batches; ++m) {
        MicroBatchWork& micro_batch = work.micro_batches.emplace_back();
        std::int64_t at = 0;
        for (std::size_t i = 0; i < moments; ++i) {
          micro_batch.gradients.push_back({at += static_cast<std::int64_t>(upto(200)), 0});
        }
        micro_batch.end = {at, 0};
      }
    }
    for (std::size_t m = 0; m < micro_batches; ++m) {
      auto& actions = drawn.program.micro_batches.emplace_back().actions;
      drawn.program.micro_batches.back().like = m;
      for (std::size_t i = 0; i < moments; ++i) {
        actions.push_back(compute(Until::kGradient, i));
        for (std::size_t r = 0; r < ranks; ++r) {
          const auto& gradients = drawn.step.ranks[r].micro_batches[m].gradients;
          const auto since = i == 0 ? 0 : gradients[i - 1].computed_ns;
          drawn.ranks[r].deeds.push_back(
              {Deed::What::kCompute, static_cast<double>(gradients[i].computed_ns - since)});
        }
        add_calls(drawn, actions);
      }
    }
    const double share = static_cast<double>(upto(8)) / 8;
    drawn.program.update = {compute(Until::kUpdate, 0, share)};
    for (std::size_t r = 0; r < ranks; ++r) {
      drawn.ranks[r].deeds.push_back(
          {Deed::What::kCompute, share * static_cast<double>(drawn.step.ranks[r].optimizer_ns)});
    }
    add_calls(drawn, drawn.program.update);
    return drawn;
  }

 private:
  std::size_t upto(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random_);
  }
  void add_calls(Drawn& drawn, std::vector<Action>& actions) {
    for (std::size_t n = upto(2); n-- > 0;) {
      const std::size_t call = drawn.calls.size();
      if (call == 0 || upto(2) > 0) {
        // Tenths of which, and of half of which, are whole nanoseconds.
        PlannedCall planned = call_of(20 * static_cast<std::int64_t>(upto(20)), 0, upto(2));
        planned.working_ns = static_cast<std::int64_t>(upto(2)) * planned.transfer_ns / 2;
        planned.follows = call > 0 && upto(3) == 0;
        drawn.program.calls.push_back(planned);
        drawn.calls.push_back({planned.lane, planned.follows,
                               static_cast<double>(planned.transfer_ns),
                               static_cast<double>(planned.working_ns)});
        actions.push_back(launch(call));
        for (PlayedRank& rank : drawn.ranks) {
          rank.deeds.push_back({Deed::What::kLaunch, 0, call});
        }
      } else {
        const std::size_t which = upto(call - 1);
        actions.push_back(wait_for(which));
        for (PlayedRank& rank : drawn.ranks) rank.deeds.push_back({Deed::What::kWait, 0, which});
      }
    }
  }

  std::mt19937 random_;
};

// Times are rounded to a nanosecond at each launch and each wait.
TEST(StepProgram, IsScheduledAsItIsPlayedEventByEvent) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Draw draw(seed);
    const double slowdown = draw.slowdown();
    const Drawn drawn = draw.program();
    const Played played = play(drawn.ranks, drawn.calls, slowdown);
    const StepSchedule schedule = schedule_step(drawn.step, drawn.program, slowdown);
    const double near = 2 + 2 * static_cast<double>(drawn.calls.size());
    double end_ns = 0, waited_ns = 0;
    for (std::size_t r = 0; r < drawn.ranks.size(); ++r) {
      end_ns = std::max(end_ns, played.end_ns(r));
      waited_ns += played.waited_ns(r, drawn.ranks[r]) / static_cast<double>(drawn.ranks.size());
    }
    ASSERT_NEAR(static_cast<double>(schedule.end_ns), end_ns, near) << seed;
    ASSERT_NEAR(schedule.exposed_ns, waited_ns, near) << seed;
    ASSERT_EQ(schedule.calls.size(), played.calls.size());
    for (std::size_t c = 0; c < played.calls.size(); ++c) {
      ASSERT_EQ(schedule.calls[c].call, c);
      double ready_ns = played.calls[c].ready_ns;
      if (drawn.calls[c].follows) ready_ns = std::max(ready_ns, played.calls[c - 1].end_ns);
      ASSERT_NEAR(static_cast<double>(schedule.calls[c].ready_ns), ready_ns, near)
          << seed << ", call " << c;
      ASSERT_NEAR(static_cast<double>(schedule.calls[c].start_ns), played.calls[c].start_ns, near)
          << seed << ", call " << c;
      ASSERT_NEAR(static_cast<double>(schedule.calls[c].end_ns), played.calls[c].end_ns, near)
          << seed << ", call " << c;
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::predict
