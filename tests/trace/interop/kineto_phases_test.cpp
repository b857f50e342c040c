// Steps and phases of programs by what optimizers mark and by the nodes of autograd.
#include "trace/interop/kineto_phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"

namespace shardlens::trace::interop {
namespace {

using base::Phase;
using testing::ElementsAre;

class KinetoPhasesTest : public KinetoImport {
 protected:
  static std::string mark(const std::string& name, double start_us, double end_us) {
    return complete("user_annotation", name, "77", start_us, end_us - start_us);
  }
  static std::string update(double start_us, double end_us,
                            const std::string& optimizer = "FusedAdam") {
    return mark("Optimizer.step#" + optimizer + ".step", start_us, end_us);
  }
  static std::string node(double start_us, double end_us, const std::string& name) {
    return complete("cpu_op", "autograd::engine::evaluate_function: " + name, "78", start_us,
                    end_us - start_us);
  }
  // An operator that makes the node of autograd with that number, and the node at work.
  static std::string maker(double start_us, int number) {
    return numbered("aten::addmm", "77", start_us, number, 0);
  }
  static std::string node_of(double start_us, int number) {
    return numbered("AddmmBackward0", "78", start_us, number, 1);
  }
  static std::string numbered(const std::string& name, const std::string& thread, double start_us,
                              int number, int forward_thread) {
    return complete("cpu_op", name, thread, start_us, 5,
                    "\"Sequence number\":" + std::to_string(number) +
                        ",\"Fwd thread id\":" + std::to_string(forward_thread));
  }
  void add(const std::string& event) { events_.push_back(event); }
  // Nodes of 10 µs each, of which so many accumulate a gradient.
  void add_backward(double begin_us, int gradients) {
    add(node(begin_us, begin_us + 10, "MmBackward0"));
    for (int i = 0; i < gradients; ++i) {
      begin_us += 10;
      add(node(begin_us, begin_us + 10, "torch::autograd::AccumulateGrad"));
    }
  }
  // Instead of other events, updates behind so many gradients each.
  using Counts = std::vector<std::vector<int>>;
  void take_updates(const std::vector<int>& gradients) {
    events_.resize(1);
    double begin_us = 0;
    for (const int count : gradients) {
      add_backward(begin_us + 20, count);
      add(update(begin_us + 3500, begin_us + 3510));
      begin_us += 4000;
    }
  }
  Run imported() {
    return open(
        import_of({trace_of(events_, "\"backend\":\"nccl\",\"rank\":0,\"world_size\":1")}).folder);
  }
  // In µs.
  std::vector<std::pair<int, int>> steps() {
    std::vector<std::pair<int, int>> times;
    for (const model::Batch& batch : imported().batches) {
      for (const model::Step& step : batch.steps) {
        times.emplace_back(step.start_ns / 1000, step.end_ns / 1000);
      }
    }
    return times;
  }
  std::vector<std::tuple<Phase, int, int>> phases() {
    std::vector<std::tuple<Phase, int, int>> times;
    for (const model::Batch& batch : imported().batches) {
      for (const model::Span& span : batch.spans) {
        if (span.depth != 0) continue;
        times.emplace_back(span.phase, span.start_ns / 1000, span.end_ns / 1000);
      }
    }
    return times;
  }

  std::vector<std::string> events_{complete("cpu_op", "aten::mm", "77", 0, 5)};
};

// As Lightning does: PyTorch's mark of the optimizer lies around the passes.
TEST_F(KinetoPhasesTest, OfAnOptimizerWithAClosureIsWhatLiesBehindItsPasses) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(update(100, 900, "AdamW"));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(node(310, 700, "MmBackward0"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700),
                                    std::tuple(Phase::kOptimizer, 700, 900)));
}

// Where nothing marks forward, only the nodes of autograd tell.
TEST_F(KinetoPhasesTest, OfAnOptimizerWithAClosureAreNeededNoOtherMarks) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(update(100, 900, "AdamW"));
  add(node(310, 700, "MmBackward0"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kOptimizer, 700, 900)));
}

TEST_F(KinetoPhasesTest, OfAnOptimizerBehindItsPassesAreAllOfIt) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(node(310, 700, "MmBackward0"));
  add(update(710, 900, "AdamW"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700),
                                    std::tuple(Phase::kOptimizer, 710, 900)));
}

// As training loops name both passes, of one micro-batch or more.
TEST_F(KinetoPhasesTest, WhatIsNamedAfterBothPassesIsNeither) {
  for (const char* name : {"forward_backward", "forward and backward", "forward_backward_step"}) {
    events_.resize(1);
    add(mark("ProfilerStep#3", 0, 1000));
    add(mark(name, 105, 705));
    add(mark("DistributedDataParallel.forward", 110, 300));
    add(node(310, 700, "MmBackward0"));
    EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                      std::tuple(Phase::kBackward, 310, 700)))
        << name;
  }
}

// As for a contrastive loss. In a pipeline a pass may belong to the backward after the next.
TEST_F(KinetoPhasesTest, AllForwardPassesThatBackwardGoesThroughAreForward) {
  add(mark("ProfilerStep#3", 0, 2000));
  for (const double begin_us : {110, 210, 1110}) {
    add(mark("DistributedDataParallel.forward", begin_us, begin_us + 90));
    add(maker(begin_us + 10, static_cast<int>(begin_us)));
  }
  add(node(310, 700, "AddmmBackward0"));
  add(node_of(320, 110));
  add(node(1310, 1700, "AddmmBackward0"));
  add(node_of(1320, 1110));
  add(node_of(1330, 210));
  EXPECT_THAT(
      phases(),
      ElementsAre(std::tuple(Phase::kForward, 110, 200), std::tuple(Phase::kForward, 210, 300),
                  std::tuple(Phase::kBackward, 310, 700), std::tuple(Phase::kForward, 1110, 1200),
                  std::tuple(Phase::kBackward, 1310, 1700)));
}

// Its operators have no numbers, or that of the next node, which another makes.
TEST_F(KinetoPhasesTest, AnEvaluationBeforeATrainingPassIsNotForward) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(mark("DistributedDataParallel.forward", 10, 50));
  add(complete("cpu_op", "aten::addmm", "77", 20, 5));
  add(mark("DistributedDataParallel.forward", 60, 100));
  add(maker(70, 5));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(maker(120, 5));
  add(node(310, 700, "AddmmBackward0"));
  add(node_of(320, 5));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700)));
}

TEST_F(KinetoPhasesTest, WithoutNumbersOnlyTheLastForwardPassIsSure) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(mark("DistributedDataParallel.forward", 10, 100));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(node(310, 700, "AddmmBackward0"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700)));
}

// Of which only the begin is marked: each goes on until it leaves its last unit.
TEST_F(KinetoPhasesTest, AllForwardPassesOfShardedUnitsAreForward) {
  add(mark("ProfilerStep#3", 0, 1000));
  for (const double begin_us : {110, 210}) {
    add(mark("FSDP::root_pre_forward", begin_us, begin_us + 2));
    add(mark("FSDP::pre_forward (layers.0)", begin_us + 3, begin_us + 5));
    add(mark("FSDP::all_gather (layers.0)", begin_us + 4, begin_us + 5));
    add(maker(begin_us + 10, static_cast<int>(begin_us)));
    add(mark("FSDP::post_forward (layers.0)", begin_us + 80, begin_us + 90));
  }
  add(mark("FSDP::pre_backward (layers.0)", 305, 308));
  add(node(310, 700, "AddmmBackward0"));
  add(node_of(320, 210));
  add(node_of(330, 110));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 200),
                                    std::tuple(Phase::kForward, 210, 300),
                                    std::tuple(Phase::kBackward, 305, 700)));
}

// DeepSpeed updates groups of parameters one by one; some programs give each an optimizer.
TEST_F(KinetoPhasesTest, StepsEndWithTheLastUpdateBehindABackwardPass) {
  for (const char* second : {"FusedAdam", "Muon"}) {
    events_.resize(1);
    for (int step = 0; step < 4; ++step) {
      add_backward(1000 * step + 20, 3);
      add(update(1000 * step + 500, 1000 * step + 510));
      add(update(1000 * step + 520, 1000 * step + 530, second));
    }
    const std::vector<std::pair<int, int>> expected{
        {0, 530}, {530, 1530}, {1530, 2530}, {2530, 3530}};
    EXPECT_EQ(steps(), expected) << second;
  }
}

// As ZeroRedundancyOptimizer's, which calls the one that it shards; with a closure or without.
TEST_F(KinetoPhasesTest, AnOptimizerWithinAnotherEndsNoStepOfItsOwn) {
  for (int step = 0; step < 3; ++step) {
    add(update(1000 * step + (step == 1 ? 10 : 500), 1000 * step + 900, "ZeroRedundancyOptimizer"));
    add_backward(1000 * step + 20, 3);
    add(update(1000 * step + 510, 1000 * step + 890, "AdamW"));
  }
  const std::vector<std::pair<int, int>> expected{{0, 900}, {900, 1900}, {1900, 2900}};
  EXPECT_EQ(steps(), expected);
}

TEST_F(KinetoPhasesTest, StepsMayAccumulateGradientsOfSeveralPasses) {
  add_backward(20, 1);  // the recording began within it
  add(update(500, 510));
  for (const int step : {1, 2, 3}) {
    add_backward(1000 * step + 20, 3);
    if (step != 2) add_backward(1000 * step + 120, 3);
    add(update(1000 * step + 500, 1000 * step + 510));
  }
  EXPECT_EQ(steps().size(), 4u);
}

// As of experts to which no token came, or where an event was lost.
TEST_F(KinetoPhasesTest, StepsMayLackAFewGradients) {
  for (const auto& gradients : Counts{{148, 148, 147, 296},
                                      {148, 148, 148, 147, 148, 148},
                                      {148, 148, 147, 148, 148, 148, 148, 147},
                                      {148, 141, 148, 147, 139, 148, 148, 144}}) {
    take_updates(gradients);
    EXPECT_EQ(steps().size(), gradients.size());
  }
}

// A generator and a discriminator: two optimizers of one class.
TEST_F(KinetoPhasesTest, OptimizersOfOtherGradientsAreSeveral) {
  for (int step = 0; step < 4; ++step) {
    add_backward(1000 * step + 20, step % 2 == 0 ? 4 : 7);
    add(update(1000 * step + 500, 1000 * step + 510));
  }
  EXPECT_THAT(steps(), ElementsAre(std::pair(0, 3510)));
}

// PyTorch's DCGAN: two passes of the discriminator's 11, one of those and the generator's 13. Of a
// critic that is updated several times turns are longer.
TEST_F(KinetoPhasesTest, OptimizersOfNearlyAsManyGradientsInTurnsAreSeveral) {
  for (const auto& gradients : Counts{{22, 24, 22},
                                      {24, 22, 24, 22},
                                      {22, 24, 22, 24, 22, 24, 22},
                                      {22, 22, 22, 24, 22, 22, 22, 24, 22},
                                      {40, 41, 40, 41, 40}}) {
    take_updates(gradients);
    EXPECT_EQ(steps().size(), 1u) << gradients.size();
  }
}

// One for each parameter, called by a hook as soon as it has its gradient.
TEST_F(KinetoPhasesTest, OptimizersWithinBackwardPassesEndNoSteps) {
  for (int step = 0; step < 2; ++step) {
    for (int parameter = 0; parameter < 3; ++parameter) {
      const double begin_us = 1000 * step + 100 * parameter + 20;
      add(node(begin_us, begin_us + 50, "torch::autograd::AccumulateGrad"));
      add(update(begin_us + 10, begin_us + 40));
    }
  }
  EXPECT_THAT(steps(), ElementsAre(std::pair(0, 1270)));
}

}  // namespace
}  // namespace shardlens::trace::interop
