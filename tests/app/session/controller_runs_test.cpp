// Runs of the library: which is on screen and which the baseline, also when one is renamed or goes.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "app/session/runs/run_liveness.h"
#include "tests/app/session/controller_fixture.h"

namespace shardlens::app::session {
namespace {

TEST_F(ControllerTest, OpensTheNewestRunAndComparesWithIt) {
  write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run && now.run->timeline; }));
  const auto snapshot = controller->snapshot();
  EXPECT_EQ(snapshot->run->figures.info.name, "new");
  EXPECT_EQ(snapshot->knobs.next.bucket_cap_mb, 4);
  EXPECT_EQ(snapshot->knobs.baseline_name, "run 2");
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run->ordinal == "run 2"; }));
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 && now.ledger->rows[0].is_baseline &&
           now.ledger->rows[0].is_shown;
  }));
}

TEST_F(ControllerTest, OpensAnExampleWithoutAFaultWhereThereAreNoRuns) {
  const auto examples = folder.path() / "examples";
  std::filesystem::create_directory(examples);
  SyntheticOptions options;
  options.name = "as it should be";
  finished_run(examples, options);
  options.name = "late";
  options.start_ns += 1'000'000'000;
  options.settings.inject = "rank=1,step=3,phase=forward,every=1,delay_ms=15";
  finished_run(examples, options);
  open([&](ControllerOptions& changed) { changed.bundled_dir = examples; });
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  EXPECT_EQ(controller->snapshot()->run->figures.info.name, "as it should be");
}

TEST_F(ControllerTest, ShowingARunThatIsGoneSaysSo) {
  open();
  controller->execute(ui::state::ShowRun{(runs / "gone").string()});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.notice_is_error; }));
}

TEST_F(ControllerTest, AChosenBaselineStays) {
  const auto old = write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  controller->execute(ui::state::SetBaseline{old.string()});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "60"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::CopySettings{old.string()});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 25);
  controller->execute(ui::state::SetBaseline{"/gone"});
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
}

TEST_F(ControllerTest, APinnedBaselineSurvivesARestartAndCanBeUnpinned) {
  const auto old = write_run("old", 25);
  write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 2"; }));
  controller->execute(ui::state::SetBaseline{old.string()});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 && now.ledger->rows[1].is_pinned;
  }));
  controller.reset();
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 1"; }));
  controller->execute(ui::state::SetKnob{"steps", "12"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1") << "an edit does not move it";
  controller->execute(ui::state::SetBaseline{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.knobs.baseline_name == "run 2" && !now.ledger->rows[1].is_pinned;
  }));
  controller.reset();
  open();
  EXPECT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 2"; }));
}

TEST_F(ControllerTest, TheLastRunBecomesTheBaselineWithTheNextChange) {
  write_run("first", 25);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.knobs.baseline_name == "run 1"; }));
  write_run("second", 4, 1'000'000'000);
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 2 &&
           now.ledger->rows[0].status == trace::model::RunStatus::kDone;  // not while it is written
  }));
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::SetKnob{"steps", "50"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 2");
}

TEST_F(ControllerTest, ARepetitionIsNamedAfterWhatItRepeats) {
  write_run("cap 60", 60);
  open();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return !now.knobs.baseline_name.empty(); }));
  EXPECT_EQ(controller->snapshot()->knobs.next_name, "cap 60 again");
  write_run("cap 60 again", 60, 1'000'000'000);
  EXPECT_TRUE(becomes(
      [](const ui::state::Snapshot& now) { return now.knobs.next_name == "cap 60 again 2"; }));
}

TEST_F(ControllerTest, ARunThatIsRenamedHasItsNewNameEverywhere) {
  const auto run = write_run("cap 60", 60);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "cap 60" &&
           now.knobs.next_name == "cap 60 again";
  }));
  ui::state::EditRuns change;
  change.folders = {run.string()};
  change.name = "wide";
  controller->execute(change);
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows[0].name == "wide" && now.run->figures.info.name == "wide" &&
           now.knobs.next_name == "wide again";
  }));
}

TEST_F(ControllerTest, ADeletedRunMakesWayOnScreenAndAsBaseline) {
  write_run("old", 25);
  const auto newest = write_run("new", 4, 1'000'000'000);
  open();
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "new" && now.knobs.baseline_name == "run 2";
  }));
  controller->execute(ui::state::DeleteRuns{{newest.string()}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.ledger->rows.size() == 1 && now.run && now.run->figures.info.name == "old" &&
           now.knobs.baseline_name == "run 1";
  }));
  controller->execute(ui::state::UndoDelete{});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  controller->execute(ui::state::EditRuns{{newest.string()}, "old", {}, {}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.notice_is_error; }));
  EXPECT_NE(controller->snapshot()->notice.find("called"), std::string::npos);
}

TEST_F(ControllerTest, ARunThatIsDeletedWhileItIsOpenedDoesNotComeOnScreen) {
  write_run("first", 60);
  const auto old = write_run("old", 25, 1'000'000'000);
  write_run("new", 4, 2'000'000'000);
  open();
  const auto shows = [this](const std::string& name) {
    return becomes([&](const ui::state::Snapshot& now) {
      return now.run && now.run->figures.info.name == name && now.knobs.baseline_name == "run 3";
    });
  };
  ASSERT_TRUE(shows("new"));
  controller->execute(ui::state::ShowRun{old.string()});
  controller->execute(ui::state::DeleteRuns{{old.string()}});
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.ledger->rows.size() == 2; }));
  EXPECT_TRUE(shows("new"));
}

// Long after its end, when nothing of it is looked at any more.
TEST_F(ControllerTest, ARunThatTakesThePlaceOfTheOneOnScreenIsShownWithoutBeingAskedFor) {
  SyntheticOptions options;
  options.name = "shown";
  const auto written = [&](const std::filesystem::path& where, int steps) {
    const auto run = finished_run(where, options, steps);
    let_rest(run);
    return run;
  };
  const auto shown = written(runs, 6);
  const auto other = written(folder.path(), 9);
  open();
  ASSERT_TRUE(becomes([](const auto& now) { return now.run && now.ledger->rows.size() == 1; }));
  std::this_thread::sleep_for(kReadOnAfterEnd + std::chrono::milliseconds(500));
  std::filesystem::remove_all(shown);
  std::filesystem::rename(other, shown);
  EXPECT_TRUE(becomes([](const auto& now) {
    return now.run && now.run->figures.steps.size() == 9 && now.ledger->rows.size() == 1 &&
           now.ledger->rows[0].summary.steps_executed == 9;
  }));
}

}  // namespace
}  // namespace shardlens::app::session
