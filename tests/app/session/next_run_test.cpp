#include "app/session/next_run.h"

#include <gtest/gtest.h>

#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

using trace::model::RunStatus;
using ui::state::LedgerRow;

// Run n has n micro-batches, so that its settings tell it apart.
LedgerRow run(int number, RunStatus status = RunStatus::kDone) {
  LedgerRow row;
  row.folder = "/runs/" + std::to_string(number);
  row.ordinal = "run " + std::to_string(number);
  row.name = row.ordinal;
  row.status = status;
  row.settings.gradient_accumulation_steps = number;
  return row;
}

struct BaselineTest : testing::Test {
  TemporaryFolder folder;
  Notice notice;
  RunLibrary library{{folder.path(), {}}, notice, [] {}};
  KnobEditor knobs;
  Baseline baseline{knobs, library};

  std::string compared_with() const { return knobs.draft({}).baseline_name; }
  bool is_pinned_for_next_start(const std::string& run_folder) const {
    return eventually([&] { return library.state().pinned_baseline == run_folder; });
  }
};

TEST_F(BaselineTest, IsTheNewestOwnRunThatEnded) {
  std::vector<LedgerRow> rows{run(6, RunStatus::kRunning), run(5, RunStatus::kFailed), run(4),
                              run(3, RunStatus::kStopped), run(2)};
  rows[2].is_imported = true;
  baseline.choose_first(rows, "");
  EXPECT_TRUE(baseline.is_chosen());
  EXPECT_EQ(compared_with(), "run 3");
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 3) << "the next run begins with its settings";
}

TEST_F(BaselineTest, IsNotChosenWhileNoRunHasEnded) {
  baseline.choose_first(std::vector<LedgerRow>{run(1, RunStatus::kRunning)}, "/runs/9");
  EXPECT_FALSE(baseline.is_chosen());
  EXPECT_EQ(compared_with(), "");
}

// Which may be on screen before the library has been read.
TEST_F(BaselineTest, WhatWasSetBesideAnotherProgramsRunIsNoChangeOfOnesOwn) {
  trace::tuning::ToldSettings told;
  told.settings.gradient_accumulation_steps = 4;
  told.knobs = {trace::job::find_knob("gradient_accumulation_steps")};
  const auto set = [&](const std::string& knob, const std::string& value) {
    EXPECT_TRUE(baseline.change_knob(
        knob, [knob, value](KnobEditor& editor) { return editor.set(knob, value); }));
  };
  knobs.show_told("/runs/a", &told);
  set("gradient_accumulation_steps", "8");
  set("steps", "77");
  baseline.choose_first(std::vector<LedgerRow>{run(2)}, "");
  knobs.show_told("/runs/a", &told);
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 8);
  EXPECT_EQ(knobs.next().steps, 77);
  knobs.show_told("", nullptr);
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 2) << "as in the run before";
  EXPECT_EQ(knobs.next().steps, 77);
}

TEST_F(BaselineTest, ChangedSettingsAreNotReplacedByThoseOfARunThatEnds) {
  ASSERT_TRUE(knobs.set("gradient_accumulation_steps", "7"));
  baseline.keep_settings();
  baseline.choose_first(std::vector<LedgerRow>{run(2)}, "");
  EXPECT_EQ(compared_with(), "run 2");
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 7);
}

// All runs are read once before it is known which the last one is.
TEST_F(BaselineTest, EarlyChangesAreMadeInTheLastRunsSettings) {
  const auto set_cap = [](KnobEditor& next) { return next.set("bucket_cap_mb", "4"); };
  const auto set_steps = [](KnobEditor& next) { return next.set("steps", "50"); };
  std::vector<LedgerRow> rows{run(2)};
  rows[0].settings.bucket_cap_mb = 60;
  baseline.begin_change(std::vector<LedgerRow>{run(1)});
  EXPECT_EQ(compared_with(), "") << "the last one is not there yet";
  ASSERT_TRUE(baseline.change(set_cap));
  ASSERT_TRUE(baseline.change(set_steps));
  baseline.change([](KnobEditor& next) { return next.reset("bucket_cap_mb"); });
  EXPECT_EQ(knobs.next().steps, 50) << "at once";
  baseline.choose_first(rows, "");
  EXPECT_EQ(compared_with(), "run 2");
  EXPECT_EQ(knobs.next().steps, 50);
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 2) << "the last run's, as all others";
  EXPECT_EQ(knobs.next().bucket_cap_mb, 60) << "set back to what it is compared with";
}

TEST_F(BaselineTest, WhatWasStartedEarlyIsKeptAsAWhole) {
  baseline.change([](KnobEditor& next) { return next.set("steps", "50"); });
  baseline.keep_settings();
  baseline.change([](KnobEditor& next) { return next.reset("gradient_accumulation_steps"); });
  const auto before = knobs.next();
  baseline.choose_first(std::vector<LedgerRow>{run(2)}, "");
  EXPECT_EQ(knobs.next(), before) << "changes to it are not made again";
}

TEST_F(BaselineTest, AnEarlyPinLeavesTheNextRunTheLastOnesSettings) {
  const std::vector<LedgerRow> rows{run(3), run(2), run(1)};
  baseline.pin(rows[1]);
  EXPECT_FALSE(baseline.is_chosen());
  baseline.choose_first(rows, "/runs/1");  // as it was before
  EXPECT_EQ(compared_with(), "run 2");
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 3);
}

TEST_F(BaselineTest, RunsThatAreDeletedEarlyAreLeftOnceTheyAreGone) {
  const std::vector<LedgerRow> rows{run(3), run(2), run(1)};
  baseline.pin(rows[1]);
  baseline.leave({"/runs/2", "/runs/3"});
  baseline.choose_first(rows, "");
  EXPECT_EQ(compared_with(), "run 2") << "the library has not looked since";
  baseline.follow_library(std::vector<LedgerRow>{run(1)});
  EXPECT_EQ(compared_with(), "run 1");
}

TEST_F(BaselineTest, TheLastRunThatIsDeletedEarlyIsLeftToo) {
  const std::vector<LedgerRow> rows{run(2), run(1)};
  baseline.leave({"/runs/2"});
  baseline.choose_first(rows, "");
  baseline.follow_library(std::vector<LedgerRow>{run(1)});
  EXPECT_EQ(compared_with(), "run 1");
}

TEST_F(BaselineTest, MovesToTheLastRunWhenTheNextChangeBegins) {
  std::vector<LedgerRow> rows{run(1)};
  baseline.choose_first(rows, "");
  rows.insert(rows.begin(), run(2));
  EXPECT_EQ(compared_with(), "run 1") << "so that run 2's own difference can be read";
  baseline.begin_change(rows);
  EXPECT_EQ(compared_with(), "run 2");
}

TEST_F(BaselineTest, APinnedOneStaysAndIsKeptForTheNextStart) {
  std::vector<LedgerRow> rows{run(2), run(1)};
  baseline.choose_first(rows, "");
  baseline.pin(rows[1]);
  rows.insert(rows.begin(), run(3));
  baseline.begin_change(rows);
  EXPECT_EQ(compared_with(), "run 1");
  EXPECT_TRUE(is_pinned_for_next_start("/runs/1"));

  KnobEditor later_knobs;
  Baseline later(later_knobs, library);
  later.choose_first(rows, "/runs/1");
  EXPECT_EQ(later_knobs.draft({}).baseline_name, "run 1");
  later.begin_change(rows);
  EXPECT_EQ(later_knobs.draft({}).baseline_name, "run 1") << "still pinned";
  EXPECT_EQ(later_knobs.next().gradient_accumulation_steps, 3) << "as the last run had them";

  baseline.unpin(rows);
  EXPECT_EQ(compared_with(), "run 3");
  EXPECT_TRUE(is_pinned_for_next_start(""));
}

// Its step times are compared with others, its settings are not known.
TEST_F(BaselineTest, AnImportedOneLeavesTheSettingsBesideTheRunBefore) {
  std::vector<LedgerRow> rows{run(3), run(2), run(1)};
  rows[1].is_imported = true;
  baseline.choose_first(rows, "");
  baseline.pin(rows[1]);
  EXPECT_EQ(compared_with(), "run 3");
  EXPECT_TRUE(is_pinned_for_next_start("/runs/2"));

  KnobEditor later_knobs;
  Baseline later(later_knobs, library);
  later.choose_first(rows, "/runs/2");
  EXPECT_EQ(later_knobs.draft({}).baseline_name, "run 3");
}

TEST_F(BaselineTest, APinnedOneThatWasDeletedIsPinnedAgainWhenItComesBack) {
  const std::vector<LedgerRow> rows{run(2), run(1)};
  baseline.choose_first(rows, "");
  baseline.pin(rows[1]);
  baseline.leave({"/runs/1"});
  baseline.follow_library(rows);  // as it was before
  EXPECT_EQ(compared_with(), "run 1");
  baseline.follow_library(std::vector<LedgerRow>{run(2)});
  ASSERT_TRUE(is_pinned_for_next_start(""));
  EXPECT_EQ(compared_with(), "run 2");
  baseline.expect_back();
  baseline.follow_library(std::vector<LedgerRow>{run(2)});
  EXPECT_EQ(compared_with(), "run 2") << "it is not there yet";
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 1");
  EXPECT_TRUE(is_pinned_for_next_start("/runs/1"));

  baseline.leave({"/runs/1"});
  baseline.follow_library(std::vector<LedgerRow>{run(2)});
  baseline.unpin(std::vector<LedgerRow>{run(2)});
  baseline.expect_back();
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 2") << "the user wanted the last one since";
}

// It is another program's, or may not be deleted.
TEST_F(BaselineTest, StaysPinnedWhereItsDeletionIsRefused) {
  const std::vector<LedgerRow> rows{run(2), run(1)};
  baseline.choose_first(rows, "");
  baseline.pin(rows[1]);
  baseline.leave({"/runs/1"});
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 1");
  baseline.begin_change(rows);
  EXPECT_EQ(compared_with(), "run 1") << "not even with the next change";
  EXPECT_TRUE(is_pinned_for_next_start("/runs/1"));
}

// The library has not looked since it was deleted.
TEST_F(BaselineTest, ADeletionThatIsTakenBackAtOnceLeavesItPinned) {
  const std::vector<LedgerRow> rows{run(2), run(1)};
  baseline.choose_first(rows, "");
  baseline.pin(rows[1]);
  baseline.leave({"/runs/1"});
  baseline.expect_back();
  baseline.follow_library(std::vector<LedgerRow>{run(2)});
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 1");
  EXPECT_TRUE(is_pinned_for_next_start("/runs/1"));
}

TEST_F(BaselineTest, LeavesARunThatGoes) {
  std::vector<LedgerRow> rows{run(4), run(3, RunStatus::kFailed), run(2, RunStatus::kStopped),
                              run(1)};
  baseline.choose_first(rows, "");
  baseline.pin(rows[0]);
  baseline.leave({"/runs/1"});
  rows.pop_back();
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 4") << "another one goes";
  baseline.leave({"/runs/4"});
  rows.erase(rows.begin());
  baseline.follow_library(rows);
  EXPECT_EQ(compared_with(), "run 2") << "as where the window opens without run 4";
  EXPECT_TRUE(is_pinned_for_next_start("")) << "a run that is gone cannot be pinned";
}

TEST_F(BaselineTest, AreTheDefaultsOnceTheOnlyRunIsGone) {
  baseline.choose_first(std::vector<LedgerRow>{run(3)}, "");
  baseline.leave({"/runs/3"});
  baseline.follow_library(std::vector<LedgerRow>{});
  EXPECT_EQ(compared_with(), "");
  EXPECT_EQ(knobs.draft({}).baseline, trace::job::Settings{});
  EXPECT_EQ(knobs.next().gradient_accumulation_steps, 3) << "the next run's stay as they are";
  EXPECT_FALSE(baseline.is_chosen()) << "the next one that ends is";
}

}  // namespace
}  // namespace shardlens::app::session
