#include "trace/predict/schedule/unit_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trace/predict/schedule/bucket_program.h"
#include "trace/predict/schedule/step_program.h"

namespace shardlens::trace::predict {
namespace {

using job::BackwardPrefetch;
using Names = std::vector<std::string>;

// A layer each, with the place behind it where its forward may be computed again.
PlannedUnit block(const std::string& name, std::size_t number) {
  return {.name = name,
          .gathered_bytes = {100},
          .reduced_bytes = 100,
          .first = 2 * number,
          .end = 2 * number + 2};
}

// A root and two blocks, under full_shard between two ranks.
UnitProgramPlan plan_of(BackwardPrefetch prefetch) {
  UnitProgramPlan plan;
  plan.units = {{.name = "r", .gathered_bytes = {40}, .reduced_bytes = 40, .end = 4},
                block("a", 0),
                block("b", 1)};
  plan.layers = 4;
  plan.second_forwards = {{0, 1}, {2, 3}};
  plan.schedule.backward_prefetch = prefetch;
  plan.shard_group = 2;
  return plan;
}

// Calls in their order, waits in brackets.
Names deeds(const StepProgram& program, std::size_t micro_batch = 0) {
  Names names;
  for (const Action& action : program.micro_batches.at(micro_batch).actions) {
    if (action.what == Action::What::kCompute) continue;
    const std::string& what = program.calls.at(action.place).what;
    names.push_back(action.what == Action::What::kLaunch ? what : "(" + what + ")");
  }
  return names;
}

TEST(UnitProgram, WithoutPrefetchGathersWhenAUnitIsUsed) {
  EXPECT_EQ(
      deeds(unit_program(plan_of(BackwardPrefetch::kNone))),
      (Names{"r forward gather", "(r forward gather)", "a forward gather", "(a forward gather)",
             "b forward gather", "(b forward gather)", "b backward gather", "(b backward gather)",
             "b reduce", "a backward gather", "(a backward gather)", "(b reduce)", "a reduce",
             "(a reduce)", "r reduce", "(r reduce)"}));
}

// Calls and waits as deeds() has them, and how long the host works for them.
Names works_and_deeds(const StepProgram& program, std::size_t micro_batch = 0) {
  Names names;
  for (const Action& action : program.micro_batches.at(micro_batch).actions) {
    const bool computes = action.what == Action::What::kCompute;
    if (computes && action.until != Until::kOwnWork) continue;
    const std::string what =
        computes ? std::to_string(std::lround(action.ns)) : program.calls.at(action.place).what;
    names.push_back(action.what == Action::What::kWait ? "(" + what + ")" : what);
  }
  return names;
}

TEST(UnitProgram, HasWhatTheHostDoesForACallBesideIt) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kNone);
  plan.do_gathers_block = plan.do_reductions_block = true;
  plan.units[1].before_gather_ns = 5;
  plan.units[1].behind_gather_ns = 6;
  plan.units[1].reduce_work_ns = 7;
  EXPECT_EQ(works_and_deeds(unit_program(plan)), (Names{"r forward gather",
                                                        "(r forward gather)",
                                                        "5",
                                                        "a forward gather",
                                                        "(a forward gather)",
                                                        "6",
                                                        "b forward gather",
                                                        "(b forward gather)",
                                                        "b backward gather",
                                                        "(b backward gather)",
                                                        "b reduce",
                                                        "(b reduce)",
                                                        "5",
                                                        "a backward gather",
                                                        "(a backward gather)",
                                                        "6",
                                                        "7",
                                                        "a reduce",
                                                        "(a reduce)",
                                                        "r reduce",
                                                        "(r reduce)"}));
  plan.micro_batches = 2;
  const auto sums = [&] {
    const Names names = works_and_deeds(unit_program(plan));
    return std::ranges::count(names, std::string("7"));
  };
  EXPECT_EQ(sums(), 0) << "the first one reduces nothing";
  plan.adds_as_it_reduces = true;
  EXPECT_EQ(sums(), 1);
}

TEST(UnitProgram, ReducesLateGradientsBehindTheNextUnit) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kPre);
  plan.are_gradients_late = true;
  const StepProgram program = unit_program(plan);
  const Names names = deeds(program);
  EXPECT_EQ((Names{names.begin() + 6, names.end()}),
            (Names{"b backward gather, prefetched", "(b backward gather, prefetched)",
                   "a backward gather, prefetched", "(a backward gather, prefetched)", "b reduce",
                   "(b reduce)", "a reduce", "(a reduce)", "r reduce", "(r reduce)"}));
}

TEST(UnitProgram, OfReplicasReducesOverThemBehindTheScatter) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kPre);
  plan.replicas = 3;
  plan.separate_communicators = true;
  const StepProgram program = unit_program(plan);
  const PlannedCall& last = program.calls.back();
  EXPECT_EQ(last.function, model::CollectiveFunction::kAllReduce);
  EXPECT_EQ(last.group, 3);
  EXPECT_EQ(last.bytes, 20);
  EXPECT_TRUE(last.follows);
  const PlannedCall& scatter = program.calls[program.calls.size() - 2];
  EXPECT_EQ(scatter.function, model::CollectiveFunction::kReduceScatter);
  EXPECT_EQ(scatter.group, 2);
  EXPECT_NE(scatter.lane, last.lane);
  EXPECT_NE(scatter.lane, program.calls.front().lane) << "gathers have one of their own";
  plan.shard_group = 1;  // no_shard
  for (const PlannedCall& call : unit_program(plan).calls) {
    EXPECT_EQ(call.function, model::CollectiveFunction::kAllReduce);
    EXPECT_FALSE(call.follows);
  }
}

// The trainer, fully_shard, FullyShardedDataParallel.
TEST(UnitProgram, WaitsBeforeAReductionForAsMuchAsItsProgramDoes) {
  using Awaited = UnitProgramPlan::Awaited;
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kPre);
  plan.replicas = 3;
  const auto reductions = [&](Awaited awaited) {
    plan.before_reduction = awaited;
    const StepProgram program = unit_program(plan);
    Names names;
    for (const Action& action : program.micro_batches.at(0).actions) {
      if (action.what == Action::What::kCompute) continue;
      const PlannedCall& call = program.calls.at(action.place);
      if (!call.is_reduction) continue;
      const bool is_sum = call.function == model::CollectiveFunction::kAllReduce;
      const std::string name = call.what.substr(0, 1) + (is_sum ? " sum" : " scatter");
      names.push_back(action.what == Action::What::kLaunch ? name : "(" + name + ")");
    }
    return names;
  };
  EXPECT_EQ(reductions(Awaited::kReduction),
            (Names{"b scatter", "b sum", "(b sum)", "a scatter", "a sum", "(a sum)", "r scatter",
                   "r sum", "(r sum)"}));
  EXPECT_EQ(reductions(Awaited::kOwnGroup),
            (Names{"b scatter", "b sum", "(b scatter)", "a scatter", "a sum", "(a scatter)",
                   "r scatter", "r sum", "(r scatter)", "(r sum)"}));
  EXPECT_EQ(reductions(Awaited::kNothing), (Names{"b scatter", "b sum", "a scatter", "a sum",
                                                  "r scatter", "r sum", "(r scatter)", "(r sum)"}));
}

// As the trainer, which gathers a block around its recomputation.
TEST(UnitProgram, WhatIsRecomputedIsGatheredOnceForThatAndItsBackward) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kNone);
  const Names names = deeds(unit_program(plan));
  plan.second_forwards[1].is = true;
  const StepProgram program = unit_program(plan);
  EXPECT_EQ(deeds(program), names);
  const auto& actions = program.micro_batches[0].actions;
  const auto second = std::ranges::find(actions, Until::kSecondForward, &Action::until);
  ASSERT_NE(second, actions.end());
  EXPECT_EQ(std::prev(second)->what, Action::What::kWait) << "for its gather";
  EXPECT_EQ(second->from, 2u);
  EXPECT_EQ(second->place, 3u);
  EXPECT_EQ(std::next(second)->until, Until::kLayerBackward);
  EXPECT_EQ(std::next(second)->place, 2u) << "the begin of b";
}

TEST(UnitProgram, WhatWasRecomputedStaysOrIsLeftOut) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kNone);
  plan.second_forwards[1] = {2, 3, true, true};
  const StepProgram both = unit_program(plan);
  const auto& actions = both.micro_batches[0].actions;
  const auto again = std::ranges::find(actions, Until::kForwardAgain, &Action::until);
  ASSERT_NE(again, actions.end());
  EXPECT_EQ(again->place, 3u);
  EXPECT_EQ(again->share, 1);
  plan.second_forwards[1].is = false;
  const StepProgram no_more = unit_program(plan);
  const auto& others = no_more.micro_batches[0].actions;
  const auto left_out = std::ranges::find(others, 0.0, &Action::share);
  ASSERT_NE(left_out, others.end());
  EXPECT_EQ(left_out->until, Until::kLayerBackward);
  EXPECT_EQ(left_out->place, 1u) << "from the begin of backward to that of the block's layer";
}

// A block with two units in it and a layer of its own between them: as the trainer's hooks run.
UnitProgramPlan nested_plan(BackwardPrefetch prefetch) {
  UnitProgramPlan plan;
  plan.units = {{.name = "r", .gathered_bytes = {40}, .reduced_bytes = 40, .end = 5},
                {.name = "o", .gathered_bytes = {100}, .reduced_bytes = 100, .first = 0, .end = 4},
                {.name = "i", .gathered_bytes = {50}, .reduced_bytes = 50, .first = 0, .end = 1},
                {.name = "j", .gathered_bytes = {50}, .reduced_bytes = 50, .first = 2, .end = 3}};
  plan.layers = 5;
  plan.second_forwards = {{0, 3}};
  plan.schedule.backward_prefetch = prefetch;
  plan.shard_group = 2;
  return plan;
}

Names launches(const StepProgram& program) {
  Names names;
  for (const PlannedCall& call : program.calls) names.push_back(call.what);
  return names;
}

TEST(UnitProgram, OfUnitsWithinOthersGoesFromTheOutsideToTheInsideAndBack) {
  EXPECT_EQ(launches(unit_program(nested_plan(BackwardPrefetch::kNone))),
            (Names{"r forward gather", "o forward gather", "i forward gather", "j forward gather",
                   "o backward gather", "j backward gather", "j reduce", "i backward gather",
                   "i reduce", "o reduce", "r reduce"}));
  // What left forward last comes first: the outer unit, then those in it.
  EXPECT_EQ(
      launches(unit_program(nested_plan(BackwardPrefetch::kPre))),
      (Names{"r forward gather", "o forward gather", "i forward gather", "j forward gather",
             "o backward gather, prefetched", "j backward gather, prefetched",
             "i backward gather, prefetched", "j reduce", "i reduce", "o reduce", "r reduce"}));
}

TEST(UnitProgram, UnitsWithinWhatIsRecomputedAreGatheredForThatAndAgain) {
  UnitProgramPlan plan = nested_plan(BackwardPrefetch::kNone);
  plan.second_forwards[0].is = true;
  plan.units[2].is_recomputed = plan.units[3].is_recomputed = true;
  EXPECT_EQ(
      launches(unit_program(plan)),
      (Names{"r forward gather", "o forward gather", "i forward gather", "j forward gather",
             "o backward gather", "i backward gather", "j backward gather", "j backward gather",
             "j reduce", "i backward gather", "i reduce", "o reduce", "r reduce"}));
}

TEST(UnitProgram, GathersWhatIsFrozenButReducesNothingOfIt) {
  UnitProgramPlan plan = plan_of(BackwardPrefetch::kNone);
  plan.units[0].reduced_bytes = 0;
  plan.units[1].reduced_bytes = 0;
  plan.units[1].has_backward = false;  // nothing before it is trained
  plan.units[2].gathered_bytes = {60, 30, 10};
  plan.units[2].passes_gradient = false;
  const StepProgram program = unit_program(plan);
  EXPECT_EQ(
      deeds(program),
      (Names{"r forward gather", "(r forward gather)", "a forward gather", "(a forward gather)",
             "b forward gather", "b forward gather", "b forward gather", "(b forward gather)",
             "(b forward gather)", "(b forward gather)", "b backward gather", "b backward gather",
             "b backward gather", "(b backward gather)", "(b backward gather)",
             "(b backward gather)", "b reduce", "(b reduce)"}));
  EXPECT_EQ(program.calls[3].bytes, 30);
  const auto& actions = program.micro_batches[0].actions;
  const auto reduction = std::ranges::find_if(actions, [&](const Action& action) {
    return action.what == Action::What::kLaunch && program.calls[action.place].what == "b reduce";
  });
  EXPECT_EQ(std::prev(reduction)->until, Until::kEnd) << "when all of backward has ended";
}

// Where a call is launched: behind how many computations.
std::size_t computations_before(const StepProgram& program, const std::string& what) {
  std::size_t count = 0;
  for (const Action& action : program.micro_batches.at(0).actions) {
    count += action.what == Action::What::kCompute ? 1 : 0;
    if (action.what == Action::What::kLaunch && program.calls[action.place].what == what) break;
  }
  return count;
}

UnitProgramPlan gpu_plan(BackwardPrefetch prefetch) {
  UnitProgramPlan plan = plan_of(prefetch);
  plan.units.push_back(block("c", 2));
  plan.units.front().end = plan.layers = 6;
  plan.second_forwards.push_back({4, 5});
  plan.has_streams = true;
  plan.copy_ns_per_byte = 0.5;
  return plan;
}

// Into the memory of the unit before the last: a GPU's host asks for b while a is computed, and b
// goes into what the root's forward has not; c goes into what a has used.
TEST(UnitProgram, OfAGpuGathersTheNextForwardBesideTheOneThatIsComputed) {
  const StepProgram program = unit_program(gpu_plan(BackwardPrefetch::kNone));
  EXPECT_EQ(computations_before(program, "r forward gather"), 0u);
  EXPECT_EQ(computations_before(program, "a forward gather"), 0u);
  EXPECT_EQ(computations_before(program, "b forward gather"), 0u);
  EXPECT_EQ(computations_before(program, "c forward gather"), 2u) << "the root's and a's";
  ASSERT_TRUE(program.calls.front().behind_mark);
  EXPECT_EQ(program.calls.front().copy_ns, 10) << "half of a rank's 20 bytes";
}

TEST(UnitProgram, OfAGpuNumbersCallsAndMarksInTheOrderOfItsActions) {
  for (const BackwardPrefetch prefetch :
       {BackwardPrefetch::kPre, BackwardPrefetch::kPost, BackwardPrefetch::kNone}) {
    UnitProgramPlan plan = gpu_plan(prefetch);
    plan.micro_batches = 2;
    plan.reduces_each = true;
    plan.separate_communicators = true;
    plan.replicas = 2;
    const StepProgram program = unit_program(plan);
    std::size_t calls = 0, marks = 0;
    for (const MicroBatchProgram& micro_batch : program.micro_batches) {
      for (const Action& action : micro_batch.actions) {
        switch (action.what) {
          case Action::What::kLaunch: {
            EXPECT_EQ(action.place, calls);
            const PlannedCall& call = program.calls.at(calls++);
            EXPECT_TRUE(!call.behind_mark || *call.behind_mark < marks);
            EXPECT_TRUE(!call.follows || program.calls.at(calls - 2).group == plan.shard_group);
            break;
          }
          case Action::What::kMark:
            EXPECT_EQ(action.place, marks++);
            break;
          case Action::What::kWait:
            EXPECT_LT(action.place, calls);
            break;
          case Action::What::kCompute:
            break;
        }
      }
    }
    EXPECT_EQ(calls, program.calls.size());
  }
}

// A backward's gather goes into the memory of the unit whose backward has ended.
TEST(UnitProgram, OfAGpuPrefetchesInBackwardIntoWhatWasFreed) {
  const StepProgram pre = unit_program(gpu_plan(BackwardPrefetch::kPre));
  // Before b's backward comes what forward has: the root, a, b, c; the head, c's begin and end.
  const auto of_forward = computations_before(pre, "c backward gather, prefetched");
  EXPECT_EQ(computations_before(pre, "b backward gather, prefetched"), of_forward)
      << "c's forward has ended, and nothing else is in the way";
  EXPECT_EQ(computations_before(pre, "a backward gather, prefetched"),
            computations_before(pre, "c reduce"))
      << "one communicator: behind the reduction that was launched before";
  UnitProgramPlan plan = gpu_plan(BackwardPrefetch::kPost);
  plan.separate_communicators = true;
  const StepProgram post = unit_program(plan);
  EXPECT_EQ(computations_before(post, "a backward gather, prefetched"),
            computations_before(post, "c reduce"))
      << "asked for behind b's backward, but the host is ahead";
}

TEST(BucketProgram, LaunchesEachBucketBehindItsLastGradientAndWaitsInTheEnd) {
  const std::vector<std::int64_t> bytes{10, 10, 10, 10};
  BucketProgramPlan plan{.gradient_bytes = bytes, .caps = {20, 20}};
  const StepProgram program = bucket_program(plan);
  const auto& actions = program.micro_batches.at(0).actions;
  ASSERT_EQ(actions.size(), 7u);
  EXPECT_EQ(actions[0].until, Until::kGradient);
  EXPECT_EQ(actions[0].place, 1u);
  EXPECT_EQ(actions[2].place, 3u);
  EXPECT_EQ(actions[4].until, Until::kEnd);
  EXPECT_EQ(deeds(program), (Names{"bucket 0", "bucket 1", "(bucket 0)", "(bucket 1)"}));
  EXPECT_EQ(program.calls[1].bytes, 20);
  EXPECT_EQ(program.calls[1].tensors, 2u);
  plan.overlaps = false;
  plan.compresses = true;
  const StepProgram late = bucket_program(plan);
  EXPECT_EQ(late.micro_batches[0].actions.front().until, Until::kEnd);
  EXPECT_EQ(late.calls[0].bytes, 10);
}

TEST(BucketProgram, ReducesTheLastMicroBatchOrEach) {
  const std::vector<std::int64_t> bytes{10};
  BucketProgramPlan plan{.gradient_bytes = bytes, .caps = {20, 20}, .micro_batches = 3};
  EXPECT_EQ(bucket_program(plan).calls.size(), 1u);
  EXPECT_TRUE(deeds(bucket_program(plan), 1).empty());
  plan.reduces_each = true;
  EXPECT_EQ(bucket_program(plan).calls.size(), 3u);
  EXPECT_EQ(deeds(bucket_program(plan), 1), (Names{"bucket 0", "(bucket 0)"}));
}

// Two layers in a block each, with the place behind it: gradients of the last come first.
TEST(BucketProgram, ComputesABlocksForwardAgainBeforeItsFirstGradient) {
  const std::vector<std::int64_t> bytes{10, 10, 10, 10};
  BucketProgramPlan plan{.gradient_bytes = bytes,
                         .caps = {20, 20},
                         .second_forwards = {{0, 2, false, true}, {3, 5, true, false}},
                         .gradient_places = {2, 3, 5, 6},
                         .layers = 6};
  const StepProgram program = bucket_program(plan);
  const auto& actions = program.micro_batches.at(0).actions;
  using Do = Action::What;
  ASSERT_EQ(actions.size(), 11u);
  EXPECT_EQ(actions[0].place, 0u) << "the last block's backward begins with all of it";
  EXPECT_EQ(actions[1].share, 0) << "is left out up to its last layer";
  EXPECT_EQ(actions[1].place, 1u);
  EXPECT_EQ(actions[2].until, Until::kGradient);
  EXPECT_EQ(actions[3].what, Do::kLaunch);
  EXPECT_EQ(actions[4].until, Until::kLayerBackward);
  EXPECT_EQ(actions[4].place, 3u);
  EXPECT_EQ(actions[5].until, Until::kSecondForward);
  EXPECT_EQ(actions[5].from, 0u);
  EXPECT_EQ(actions[5].place, 2u);
  EXPECT_EQ(actions[6].until, Until::kGradient);
  EXPECT_EQ(actions[8].until, Until::kEnd);
}

// The fullest owner has two parts: half of the update is done before each.
TEST(UpdateProgram, SendsEachPartOnceItIsUpdated) {
  StepProgram program;
  add_update({.share = 0.5, .sums_before = {{2, 260}}, .parts = {{8, 16}, {24}}}, program);
  ASSERT_EQ(program.calls.size(), 4u);
  EXPECT_EQ(program.calls[0].bytes, 260);
  EXPECT_EQ(program.calls[1].bytes, 8);
  EXPECT_EQ(program.calls[2].bytes, 24);
  EXPECT_EQ(program.calls[3].bytes, 16);
  using Do = Action::What;
  std::vector<Do> what;
  double share = 0;
  for (const Action& action : program.update) {
    what.push_back(action.what);
    if (action.what == Do::kCompute) share += action.share;
  }
  EXPECT_EQ(what, (std::vector<Do>{Do::kLaunch, Do::kWait, Do::kCompute, Do::kLaunch, Do::kLaunch,
                                   Do::kCompute, Do::kLaunch, Do::kWait, Do::kWait, Do::kWait}));
  EXPECT_DOUBLE_EQ(share, 0.5);
}

}  // namespace
}  // namespace shardlens::trace::predict
