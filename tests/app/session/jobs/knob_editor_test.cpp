#include "app/session/jobs/knob_editor.h"

#include <gtest/gtest.h>

#include "trace/job/settings/settings.h"
#include "trace/tuning/told_settings.h"

namespace shardlens::app::session {
namespace {

// Of another program's run, as long as it is on screen.
TEST(KnobEditor, ShowsWhatARunTellsAndIsAsBeforeBehindIt) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.settings.backward_prefetch = trace::job::BackwardPrefetch::kNone;
  told.knobs = {trace::job::find_knob("sharding_strategy"),
                trace::job::find_knob("backward_prefetch")};
  KnobEditor knobs;
  ASSERT_TRUE(knobs.set("learning_rate", "0.5"));
  const trace::job::Settings own = knobs.next();
  EXPECT_FALSE(knobs.show_told("", nullptr));
  EXPECT_TRUE(knobs.show_told("/runs/a", &told));
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kFullShard);
  EXPECT_EQ(knobs.draft({}).told, told.knobs);
  EXPECT_EQ(knobs.draft({}).baseline.backward_prefetch, trace::job::BackwardPrefetch::kNone);
  EXPECT_EQ(knobs.next().learning_rate, 0.5) << "which it does not tell";
  ASSERT_TRUE(knobs.set("backward_prefetch", "pre"));  // as by default
  ASSERT_TRUE(knobs.set("steps", "77"));
  EXPECT_TRUE(knobs.show_told("/runs/b", &told));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kNone) << "of this run";
  EXPECT_TRUE(knobs.show_told("/runs/a", &told));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kPre) << "as it was left";
  ASSERT_TRUE(knobs.reset("backward_prefetch"));
  EXPECT_EQ(knobs.next().backward_prefetch, trace::job::BackwardPrefetch::kNone);
  EXPECT_TRUE(knobs.show_told("", nullptr));
  trace::job::Settings expected = own;
  expected.steps = 77;
  EXPECT_EQ(knobs.next(), expected);
  EXPECT_EQ(knobs.draft({}).baseline, trace::job::Settings{});
}

// What is chosen as a whole is so behind the run, too; what nobody chose gives way to what is told.
TEST(KnobEditor, TakesSettingsThatAreChosenWhileARunTellsOthers) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.knobs = {trace::job::find_knob("sharding_strategy")};
  trace::job::Settings chosen;
  chosen.sharding_strategy = trace::job::Strategy::kZero1;
  KnobEditor knobs;
  knobs.show_told("/runs/a", &told);
  knobs.replace(chosen);
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kZero1);
  knobs.show_told("", nullptr);
  EXPECT_EQ(knobs.next().sharding_strategy, trace::job::Strategy::kZero1);
  KnobEditor other;
  other.show_told("/runs/a", &told);
  other.begin_with(chosen);
  EXPECT_TRUE(other.show_told("/runs/a", &told));
  EXPECT_EQ(other.next().sharding_strategy, trace::job::Strategy::kFullShard);
  other.show_told("", nullptr);
  EXPECT_EQ(other.next().sharding_strategy, trace::job::Strategy::kZero1);
}

// As when lessons end that were read in between.
TEST(KnobEditor, GoesBackToWhatWasSetAlsoBesideWhatRunsTell) {
  trace::tuning::ToldSettings told;
  told.settings.bucket_cap_mb = 25;
  told.knobs = {trace::job::find_knob("bucket_cap_mb")};
  KnobEditor knobs;
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "60"));
  knobs.show_told("/runs/a", &told);
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "4"));
  const KnobEditor::Kept kept = knobs.kept();
  EXPECT_EQ(knobs.next().bucket_cap_mb, 4) << "keeping changes nothing";
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "7"));
  ASSERT_TRUE(knobs.set("steps", "3"));
  knobs.go_back_to(kept);
  EXPECT_EQ(knobs.next().bucket_cap_mb, 60) << "what is told waits for its run";
  EXPECT_EQ(knobs.next().steps, trace::job::Settings{}.steps);
  knobs.show_told("/runs/a", &told);
  EXPECT_EQ(knobs.next().bucket_cap_mb, 4);
}

// It is none of the run before if only what is told is as recorded.
TEST(KnobEditor, NamesARunBesideOnesOwnWhateverAnotherProgramTells) {
  trace::tuning::ToldSettings told;
  told.settings.sharding_strategy = trace::job::Strategy::kFullShard;
  told.knobs = {trace::job::find_knob("sharding_strategy")};
  KnobEditor knobs;
  knobs.set_baseline({}, "run 1", "first");
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "5"));
  ASSERT_TRUE(knobs.reset("bucket_cap_mb"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "first again");
  knobs.show_told("/runs/a", &told);
  EXPECT_EQ(knobs.draft({"first"}).next_name, "full_shard");
  ASSERT_TRUE(knobs.set("sharding_strategy", "ddp"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "first again");
}

TEST(KnobEditor, SaysOfARepetitionThatItIsOneWhateverItIsComparedWith) {
  KnobEditor knobs;
  knobs.set_baseline({}, "run 1", "first");
  ASSERT_TRUE(knobs.set("bucket_cap_mb", "5"));
  EXPECT_EQ(knobs.draft({"first"}).next_name, "cap 5");
  EXPECT_EQ(knobs.draft({"first", "cap 5"}).next_name, "cap 5 again");
  EXPECT_EQ(knobs.draft({"cap 5", "cap 5 again"}).next_name, "cap 5 again 2");
}

}  // namespace
}  // namespace shardlens::app::session
