// What the controller does for the Inspect workspace and for files.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/app/session/controller_fixture.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {
namespace {

struct ControllerInspectTest : ControllerTest {
  std::filesystem::path run = finished_run(runs);

  ControllerInspectTest() {
    open([&](ControllerOptions& options) {
      options.run = run;
      options.save_dir = folder.path();
    });
  }
};

TEST_F(ControllerInspectTest, OpensTheRunOnlyOnceSomebodyLooksAround) {
  ASSERT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.run != nullptr; }));
  EXPECT_FALSE(controller->snapshot()->inspect);
  controller->look_around();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.inspect && now.inspect->range; }));
  EXPECT_EQ(controller->snapshot()->inspect->run_folder, run);
}

TEST_F(ControllerInspectTest, CommandsOfThePanelsReachTheRun) {
  controller->look_around();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.inspect && now.inspect->range; }));
  controller->execute(ui::state::FindNames{{"forward", false, true}});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) { return now.inspect->hits != nullptr; }));
  controller->execute(ui::state::RunSql{"select 1"});
  EXPECT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.inspect->sql.answer != nullptr; }));
}

TEST_F(ControllerInspectTest, AnotherRunOnScreenIsLookedAroundIn) {
  controller->look_around();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.inspect && now.inspect->rows; }));
  SyntheticOptions options;
  options.name = "other";
  const auto other = finished_run(runs, options, 3);
  controller->execute(ui::state::ShowRun{other});
  EXPECT_TRUE(becomes([&](const ui::state::Snapshot& now) {
    return now.inspect && now.inspect->rows && now.inspect->run_folder == other &&
           now.inspect->rows->steps.size() == 6;
  }));
}

TEST_F(ControllerInspectTest, SavesATableAndSaysWhere) {
  controller->execute(ui::state::SaveText{"kernels.csv", "name,count\n"});
  std::ifstream saved(folder.path() / "kernels.csv");
  const std::string text{std::istreambuf_iterator<char>(saved), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, "name,count\n");
  const auto snapshot = controller->snapshot();
  EXPECT_FALSE(snapshot->notice_is_error);
  EXPECT_NE(snapshot->notice.find((folder.path() / "kernels.csv").string()), std::string::npos);
}

TEST_F(ControllerInspectTest, APictureIsTheWindowsToSave) {
  EXPECT_FALSE(controller->take_wanted_picture());
  controller->execute(ui::state::SavePicture{"timeline.png", {1, 2, 3, 4}});
  const auto wanted = controller->take_wanted_picture();
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->file_name, "timeline.png");
  EXPECT_FALSE(controller->take_wanted_picture()) << "once";
  controller->note_saved(trace::base::fail(trace::base::ErrorKind::kIo, "no space"));
  EXPECT_EQ(controller->snapshot()->notice, "no space");
  EXPECT_TRUE(controller->snapshot()->notice_is_error);
}

TEST_F(ControllerInspectTest, ATraceThatIsDroppedOnTheWindowIsImportedAndShown) {
  const auto file = folder.path() / "trace.json";
  std::ofstream(file) << R"({"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, "dur": 5.0,
     "args": {"device": 0, "stream": 7, "correlation": 1}}]})";
  controller->execute(ui::state::OpenFiles{{file.string()}});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "trace" && !now.notice_is_error;
  }));
  const auto again = folder.path() / "again.json", broken = folder.path() / "broken.json",
             config = folder.path() / "ds_config.json";
  std::filesystem::copy_file(file, again);
  std::ofstream(broken) << "no trace";
  std::ofstream(config) << R"({"zero_optimization": {"stage": 9}})";
  controller->execute(ui::state::OpenFiles{{again.string(), broken.string(), config.string()}});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.notice_is_error && now.notice.ends_with("Not opened: ds_config.json, broken.json");
  })) << controller->snapshot()->notice;
}

TEST_F(ControllerInspectTest, ARunThatIsOpenedAsAFileIsShownAndNotImported) {
  SyntheticOptions options;
  options.name = "dropped";
  TemporaryFolder elsewhere;
  const auto other = finished_run(elsewhere.path(), options, 2);
  controller->execute(ui::state::OpenFiles{{other}});
  EXPECT_TRUE(becomes([](const ui::state::Snapshot& now) {
    return now.run && now.run->figures.info.name == "dropped" && !now.notice_is_error;
  }));
}

TEST_F(ControllerInspectTest, BookmarksGoIntoOwnRunsAndNotIntoThoseThatCameWithTheProgram) {
  ControllerOptions options;
  options.bundled_dir = runs;
  options.run = run;
  options.runs_dir = folder.path() / "none";
  options.start_job = jobs.starter();
  Controller bundled(options, [] {});
  bundled.look_around();
  ASSERT_TRUE(eventually([&] {
    const auto now = bundled.snapshot();
    return now->inspect && now->inspect->rows && !now->ledger->rows.empty();
  }));
  bundled.execute(ui::state::ChangeBookmark{{7, "here"}});
  EXPECT_EQ(bundled.snapshot()->notice,
            "Bookmarks are kept with their run. Runs that came with the program stay as they are.");
  EXPECT_TRUE(trace::store::read_run_info(run)->bookmarks.empty());

  controller->look_around();
  ASSERT_TRUE(
      becomes([](const ui::state::Snapshot& now) { return now.inspect && now.inspect->rows; }));
  controller->execute(ui::state::ChangeBookmark{{7, "here"}});
  EXPECT_TRUE(eventually([&] { return !trace::store::read_run_info(run)->bookmarks.empty(); }));
}

}  // namespace
}  // namespace shardlens::app::session
