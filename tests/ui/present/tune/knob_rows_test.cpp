#include "ui/present/tune/knob_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "trace/job/shape/strategy.h"

namespace shardlens::ui::present {

namespace {

const KnobRow* find_row(const std::vector<KnobRow>& rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [name](const KnobRow& row) {
    return row.knob != nullptr && row.knob->name == name;
  });
  return at == rows.end() ? nullptr : &*at;
}

TEST(KnobRows, ShowEssentialKnobsAndFoldTheRest) {
  const auto rows = knob_rows(state::KnobDraft{}, {});
  EXPECT_NE(find_row(rows, "bucket_cap_mb"), nullptr);
  EXPECT_EQ(find_row(rows, "adam_beta1"), nullptr);
}

TEST(KnobRows, UnfoldAGroup) {
  UnfoldedGroups unfolded{};
  unfolded[static_cast<std::size_t>(trace::job::KnobGroup::kOptimization)] = true;
  EXPECT_NE(find_row(knob_rows(state::KnobDraft{}, unfolded), "adam_beta1"), nullptr);
}

TEST(KnobRows, HoldEveryKnobOnceThatTheStrategyObeys) {
  UnfoldedGroups all;
  all.fill(true);
  state::KnobDraft draft;
  for (const trace::job::StrategyTraits& strategy : trace::job::strategies()) {
    draft.next.sharding_strategy = strategy.strategy;
    const auto rows = knob_rows(draft, all);
    for (const trace::job::Knob& knob : trace::job::knobs()) {
      EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                              [&](const KnobRow& row) { return row.knob == &knob; }),
                trace::job::applies(knob, strategy.strategy) ? 1 : 0)
          << knob.name << " with " << strategy.name;
    }
  }
}

TEST(KnobRows, HoldNothingOfGpusWhereRanksAreOnTheCpu) {
  UnfoldedGroups all;
  all.fill(true);
  state::KnobDraft draft;
  draft.next.nccl_algo = "Ring";
  EXPECT_NE(find_row(knob_rows(draft, all), "nccl_algo"), nullptr);
  EXPECT_NE(change_summary(draft), "");
  draft.next.device = draft.baseline.device = trace::job::DeviceChoice::kCpu;
  EXPECT_EQ(find_row(knob_rows(draft, all), "nccl_algo"), nullptr);
  EXPECT_EQ(change_summary(draft), "");
}

TEST(KnobRows, SayWhatTheStrategyShards) {
  state::KnobDraft draft;
  draft.next.sharding_strategy = trace::job::Strategy::kZero1;
  const auto rows = knob_rows(draft, {});
  EXPECT_EQ(find_row(rows, "sharding_strategy")->note,
            "Shards the optimizer's state; parameters are sent round after every step");
}

TEST(KnobRows, ShowAKnobThatDoesNotApplyWhereItStopsTheRun) {
  state::KnobDraft draft;
  draft.next.cpu_offload = true;  // of ddp, which has no shards
  draft.problems = trace::job::problems_of(draft.next);
  const auto rows = knob_rows(draft, {});
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const KnobRow& row) {
    return row.knob != nullptr && row.knob->name == "cpu_offload" && !row.problem.empty();
  }));
}

TEST(KnobRows, CompareWithTheNamedRun) {
  state::KnobDraft draft;
  draft.baseline_name = "run 3";
  draft.next.bucket_cap_mb = 60;
  const auto rows = knob_rows(draft, {});
  const KnobRow* row = find_row(rows, "bucket_cap_mb");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->changed);
  EXPECT_EQ(row->before, "run 3: 25");
  EXPECT_FALSE(find_row(rows, "steps")->changed);
}

TEST(KnobRows, ShowAFoldedKnobThatChangedOrHasAProblem) {
  state::KnobDraft draft;
  draft.next.dropout = 0.1;
  draft.problems.push_back({"inject", "rank 7 does not exist"});
  const auto rows = knob_rows(draft, {});
  EXPECT_NE(find_row(rows, "dropout"), nullptr);
  ASSERT_NE(find_row(rows, "inject"), nullptr);
  EXPECT_EQ(find_row(rows, "inject")->problem, "rank 7 does not exist");
}

TEST(Slider, MovesLogarithmicallyAndBack) {
  const trace::job::Knob& cap = *trace::job::find_knob("bucket_cap_mb");
  const auto [low, high] = slider_range(cap);
  EXPECT_FLOAT_EQ(slider_position(cap, low), 0);
  EXPECT_FLOAT_EQ(slider_position(cap, high), 1);
  EXPECT_FLOAT_EQ(slider_position(cap, high * 10), 1);
  for (const double value : {1.0, 4.0, 25.0, 60.0, 100.0}) {
    EXPECT_NEAR(std::strtod(slider_text(cap, slider_position(cap, value)).c_str(), nullptr), value,
                value * 0.03);
  }
}

TEST(Slider, GivesNoValueBeyondItsEnds) {
  for (const char* name : {"bucket_cap_mb", "batch_per_rank", "sequence_length", "steps"}) {
    const trace::job::Knob& knob = *trace::job::find_knob(name);
    const auto [low, high] = slider_range(knob);
    const auto value_at = [&](float at) {
      return std::strtod(slider_text(knob, at).c_str(), nullptr);
    };
    EXPECT_DOUBLE_EQ(value_at(0), low) << name;
    EXPECT_DOUBLE_EQ(value_at(1), high) << name;
    for (const float at : {0.98f, 0.99f, 0.995f, 0.999f}) EXPECT_LE(value_at(at), high) << name;
  }
}

TEST(Slider, GivesIntegersToIntegerKnobs) {
  const trace::job::Knob& batch = *trace::job::find_knob("batch_per_rank");
  for (float position = 0; position <= 1; position += 0.05f) {
    const std::string text = slider_text(batch, position);
    EXPECT_EQ(text.find('.'), std::string::npos) << text;
    trace::job::Settings settings;
    EXPECT_TRUE(trace::job::set_value(settings, "batch_per_rank", text).has_value()) << text;
  }
}

TEST(ChangeSummary, WarnsThatSeveralEffectsCannotBeToldApart) {
  state::KnobDraft draft;
  EXPECT_EQ(change_summary(draft), "");
  draft.next.bucket_cap_mb = 60;
  EXPECT_EQ(change_summary(draft), "1 change against the defaults");
  draft.next.static_graph = true;
  EXPECT_EQ(change_summary(draft),
            "2 changes against the defaults: their effects cannot be told apart");
  draft.baseline_name = "run 3";
  EXPECT_EQ(change_summary(draft), "2 changes against run 3: their effects cannot be told apart");
}

// Of another program's run on screen.
TEST(KnobRows, CompareWithWhatTheRunTells) {
  state::KnobDraft draft;
  draft.baseline_name = "run 3";
  EXPECT_EQ(unchanged_text(draft), "as run 3");
  draft.told = {trace::job::find_knob("bucket_cap_mb")};
  EXPECT_EQ(unchanged_text(draft), "as recorded, else as run 3");
  draft.next.bucket_cap_mb = 60;
  const auto rows = knob_rows(draft, {});
  EXPECT_EQ(find_row(rows, "bucket_cap_mb")->before, "recorded: 25");
  EXPECT_EQ(change_summary(draft), "1 change against the recorded run");
  draft.next.static_graph = true;
  EXPECT_EQ(change_summary(draft), "2 changes against run 3: their effects cannot be told apart");
}

TEST(ChangeSummary, CountsWhatMayChangeAStep) {
  state::KnobDraft draft;
  draft.baseline_name = "run 1";
  draft.next.steps += 10;
  EXPECT_EQ(change_summary(draft), "1 change against run 1, without effect on the step");
  draft.next.bucket_cap_mb = 8;
  EXPECT_EQ(change_summary(draft), "1 change against run 1; 1 more has no effect on the step");
  draft.next.learning_rate *= 2;
  draft.next.overlap_comm = !draft.next.overlap_comm;
  EXPECT_EQ(change_summary(draft),
            "2 changes against run 1: their effects cannot be told apart; 2 more have "
            "no effect on the step");
  draft.next = draft.baseline;
  draft.next.bucket_cap_mb = 8;
  draft.next.sharding_strategy = trace::job::Strategy::kFullShard;
  EXPECT_EQ(change_summary(draft), "1 change against run 1") << "the strategy has no buckets";
}

TEST(ChangeSummary, IsTheSameOnADeviceThatIsNamed) {
  state::KnobDraft draft;
  draft.baseline_name = "run 1";
  draft.next.device = draft.baseline.device = trace::job::DeviceChoice::kCuda;
  draft.next.max_grad_norm = 2 * draft.baseline.max_grad_norm;
  EXPECT_EQ(change_summary(draft), "1 change against run 1, without effect on the step");
  draft.next.max_grad_norm = draft.baseline.max_grad_norm;
  draft.next.device = trace::job::DeviceChoice::kCpu;
  EXPECT_EQ(change_summary(draft), "1 change against run 1");
}

}  // namespace

}  // namespace shardlens::ui::present
