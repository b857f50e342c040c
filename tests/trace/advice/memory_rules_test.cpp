// Where the rules about memory that is left over must speak, and where they must not.
#include <gtest/gtest.h>

#include "tests/trace/advice/advised_run.h"
#include "trace/advice/facts/what_if.h"

namespace shardlens::trace::advice {
namespace {

TEST(LargerBatchRule, SpeaksWhereMoreFitsAndAPartOfTheStepWouldNotGrow) {
  AdvisedRun run;
  run.predicts = false;
  run.set_memory(16 * 1024 * kMib);
  const auto advice = asked(run, "larger_batch");
  ASSERT_TRUE(advice) << "20 of 150 ms are exposed or idle";
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"batch_per_rank", "64"}}));
  EXPECT_TRUE(run.facts().fits(*run.facts().with(advice->changes)).value_or(false));
  EXPECT_NE(advice->costs, "");
}

// Of fewer texts none is longer than those that were padded; of more one may fill its sequence.
TEST(LargerBatchRule, CountsOnNoPaddingOfMoreTexts) {
  AdvisedRun full, padded;
  for (AdvisedRun* run : {&full, &padded}) {
    run->predicts = false;
    run->set_memory(1024 * kMib);
  }
  padded.job.text_tokens = 6;
  padded.job.width = 8;
  const auto peak_with = [](AdvisedRun& run, std::int64_t batch) {
    job::Settings settings = run.settings();
    settings.batch_per_rank = batch;
    return run.facts().peak_bytes(settings).value_or(0);
  };
  EXPECT_GT(peak_with(padded, 1), peak_with(full, 1));
  EXPECT_EQ(peak_with(padded, 8), peak_with(full, 8)) << "as measured";
  EXPECT_GT(peak_with(padded, 16), peak_with(full, 16));
  const auto of_full = asked(full, "larger_batch"), of_padded = asked(padded, "larger_batch");
  const auto batch_of = [](const auto& advice) {
    return advice ? std::stoll(advice->changes.at(0).value) : 8;
  };
  EXPECT_LE(batch_of(of_padded), batch_of(of_full));
}

TEST(LargerBatchRule, StaysBelowTheLargestBatchThatMayBeSet) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().batch_per_rank = 30000;
  run.set_memory(kMib * 1024 * 1024 * 1024);
  const auto advice = asked(run, "larger_batch");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"batch_per_rank", "60000"}}));
}

TEST(LargerBatchRule, GainsForAsManySamplesWhatThePredictorSays) {
  AdvisedRun run;
  run.settings().overlap_comm = false;
  run.set_memory(16 * 1024 * kMib);
  const auto advice = asked(run, "larger_batch");
  ASSERT_TRUE(advice);
  Advice gaining = *advice;
  const bool is_faster = add_gain(run.facts(), gaining);
  const auto predicted = run.facts().predictor->predict(*run.facts().with(advice->changes));
  ASSERT_TRUE(predicted) << predicted.error().message;
  const double step = predicted->recorded_step_ns;
  EXPECT_EQ(is_faster, step - (step + predicted->difference->high_ns) / 8 > 0);
  ASSERT_TRUE(gaining.gain);
  EXPECT_DOUBLE_EQ(gaining.gain->ns, step - predicted->step_ns / 8) << "eight batches in one";
  ASSERT_TRUE(predicted->peak_bytes());
  EXPECT_EQ(advice->saved_bytes, *predicted->recorded_peak_bytes() - *predicted->peak_bytes())
      << "the batch's tokens, too";
}

TEST(LargerBatchRule, IsSilentWhereNothingIsLeftOrNothingWouldBeGained) {
  AdvisedRun full;
  full.set_memory(520 * kMib);
  EXPECT_FALSE(asked(full, "larger_batch"));
  AdvisedRun computing;
  computing.set_memory(16 * 1024 * kMib);
  computing.breakdown = [](std::int64_t, int, analysis::StepBreakdown& own) {
    own.compute_ns = own.step_ns;
  };
  EXPECT_FALSE(asked(computing, "larger_batch"));
  AdvisedRun unknown;
  EXPECT_FALSE(asked(unknown, "larger_batch"));
}

TEST(RecomputationRule, SpeaksWhereAllActivationsFit) {
  const auto recomputing = [](std::int64_t device_bytes) {
    AdvisedRun run;
    run.predicts = false;
    run.settings().activation_checkpointing = 1;
    run.set_memory(device_bytes);
    return run;
  };
  AdvisedRun run = recomputing(16 * 1024 * kMib);
  const auto advice = asked(run, "recomputation");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"activation_checkpointing", "0"}}));
  EXPECT_LT(advice->saved_bytes, 0);
  AdvisedRun full = recomputing(560 * kMib);
  EXPECT_FALSE(asked(full, "recomputation"));
  AdvisedRun off;
  off.set_memory(16 * 1024 * kMib);
  EXPECT_FALSE(asked(off, "recomputation"));
}

}  // namespace
}  // namespace shardlens::trace::advice
