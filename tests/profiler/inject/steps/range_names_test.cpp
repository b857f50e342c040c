#include "profiler/inject/steps/range_names.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::inject {
namespace {

using trace::base::Phase;

TEST(RangeNames, KnowAStepHoweverItIsWritten) {
  for (const char* name : {"step 17", "Step", "ProfilerStep#3", "train_step", "trainStep",
                           "iteration: 5", "Iter 5/100", "training step 4", "Trainer.step",
                           "self.train_step()", "epoch 0.5, step 3"}) {
    EXPECT_TRUE(names_a_step(name)) << name;
  }
}

TEST(RangeNames, DoNotTakeAnythingElseForAStep) {
  for (const char* name :
       {"optimizer.step", "Optimizer step", "timestep embedding", "stepwise", "iterator", "batch 3",
        "", "forward step", "DeepSpeedEngine.step", "model_engine.step()", "GradScaler.step",
        "scheduler.step()", "scheduler step", "prof.step()"}) {
    EXPECT_FALSE(names_a_step(name)) << name;
  }
}

TEST(RangeNames, TellTheNumberOfAStep) {
  for (const char* name : {"step 17", "Step: 17/200", "ProfilerStep#17", "epoch 3, iteration=17",
                           "train_step_17", "iter 3 of step 17", "train_step, iter 17"}) {
    EXPECT_EQ(step_number(name), 17) << name;
  }
  for (const char* name : {"step", "step of rank 3", "batch 3", "step 99999999999", "step -"}) {
    EXPECT_EQ(step_number(name), std::nullopt) << name;
  }
}

TEST(RangeNames, TellThePhase) {
  const std::pair<const char*, Phase> known[] = {
      {"forward", Phase::kForward},
      {"Model.Forward", Phase::kForward},
      {"DistributedDataParallel.forward", Phase::kForward},
      {"fwd", Phase::kForward},
      {"loss.backward()", Phase::kBackward},
      {"bwd_pass", Phase::kBackward},
      {"optimizer.step", Phase::kOptimizer},
      {"opt", Phase::kOptimizer},
      {"zero_grad", Phase::kOptimizer},
      {"DeepSpeedEngine.step", Phase::kOptimizer},
      {"scaler.step()", Phase::kOptimizer},
      {"DeepSpeedZeroOptimizer_Stage3.backward", Phase::kBackward},
      {"dataloader", Phase::kData},
      {"load data", Phase::kData},
      {"validation", Phase::kEvaluation},
      {"save checkpoint", Phase::kCheckpoint},
  };
  for (const auto& [name, phase] : known) EXPECT_EQ(phase_named(name), phase) << name;
}

TEST(RangeNames, LeaveOpenWhatIsNoPhaseOrTwo) {
  for (const char* name : {"forward_backward", "DistributedDataParallel", "attention", "options",
                           "CheckpointFunction", "update", ""}) {
    EXPECT_EQ(phase_named(name), std::nullopt) << name;
  }
}

TEST(RangeNames, TellWhetherEachIsAnUpdate) {
  for (const char* name : {"optimizer.step", "DeepSpeedZeroOptimizer_Stage3.step", "scaler.step"}) {
    EXPECT_FALSE(may_leave_out_the_update(name)) << name;
  }
  for (const char* name : {"DeepSpeedEngine.step", "model_engine.step()"}) {
    EXPECT_TRUE(may_leave_out_the_update(name)) << name;
  }
}

TEST(RangeNames, LoseWhatDiffersFromCallToCall) {
  EXPECT_EQ(without_call_details("aten::mm, seq = 12, op_id = 7"), "aten::mm");
  EXPECT_EQ(without_call_details("aten::add, op_id = 7, sizes = [[2, 3]]"), "aten::add");
  EXPECT_EQ(without_call_details("step 17"), "step 17");
  EXPECT_EQ(without_numbers("step 17 of 200"), "step # of #");
  EXPECT_EQ(without_numbers("forward"), "forward");
}

}  // namespace
}  // namespace shardlens::profiler::inject
