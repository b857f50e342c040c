#include "app/session/run_library.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/session/wall_time.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app {
namespace {

std::filesystem::path write_run(const std::filesystem::path& runs_dir, const std::string& name,
                                int steps, std::int64_t start_ns) {
  SyntheticOptions options;
  options.name = name;
  options.start_ns = start_ns;
  SyntheticRun run(runs_dir, options);
  run.add_steps(steps);
  run.finish();
  return run.folder();
}

constexpr std::int64_t kLongAgo = 1'600'000'000'000'000'000;

struct LibraryTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path runs = folder.path() / "runs";
  std::filesystem::path bundled = folder.path() / "bundled";

  LibraryTest() {
    std::filesystem::create_directory(runs);
    std::filesystem::create_directory(bundled);
  }
  static std::size_t rows(const RunLibrary& library) { return library.state().ledger->rows.size(); }
};

TEST_F(LibraryTest, ListsRunsWithTheirFigures) {
  write_run(runs, "a", 6, kLongAgo);
  write_run(runs, "b", 8, kLongAgo + 1'000'000'000);
  write_run(bundled, "demo", 5, kLongAgo);
  const RunLibrary library({runs, bundled}, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  const auto ledger = library.state().ledger;
  ASSERT_EQ(ledger->rows.size(), 3u);
  EXPECT_EQ(ledger->rows[0].name, "b");
  EXPECT_EQ(ledger->rows[0].ordinal, "run 2");
  EXPECT_EQ(ledger->rows[0].summary.steps_executed, 8);
  EXPECT_EQ(ledger->rows[0].peak_memory_bytes, 31'000'000);
  EXPECT_NEAR(ledger->rows[0].summary.step_ns.mean, 20e6, 1);
  EXPECT_TRUE(ledger->rows[2].is_bundled);
}

TEST_F(LibraryTest, ARunThatWasKilledJustBeforeIsNotShownAsRunningForEver) {
  std::filesystem::path run_folder;
  {
    SyntheticOptions options;
    options.start_ns = wall_now_ns() - 60'000'000'000;
    SyntheticRun run(runs, options);
    run.add_steps(5);
    run.beat(wall_now_ns() - 8'000'000'000);
    run_folder = run.folder();
  }
  // Its files were last written a moment before the library looks.
  const auto recently = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(8);
  for (const auto& entry : std::filesystem::directory_iterator(run_folder)) {
    std::filesystem::last_write_time(entry.path(), recently);
  }
  const RunLibrary library({runs, {}}, [] {});
  ASSERT_TRUE(eventually([&] { return rows(library) == 1; }));
  EXPECT_EQ(library.state().ledger->rows[0].status, trace::RunStatus::kRunning);
  EXPECT_TRUE(eventually(
      [&] { return library.state().ledger->rows[0].status == trace::RunStatus::kFailed; }));
}

TEST_F(LibraryTest, NoticesNewAndDeletedRuns) {
  const RunLibrary library({runs, {}}, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(rows(library), 0u);
  const auto added = write_run(runs, "a", 4, kLongAgo);
  ASSERT_TRUE(eventually([&] { return rows(library) == 1; }));
  std::filesystem::remove_all(added);
  EXPECT_TRUE(eventually([&] { return rows(library) == 0; }));
}

TEST_F(LibraryTest, NamesRunsThatCannotBeRead) {
  write_run(runs, "good", 4, kLongAgo);
  std::ofstream(runs / "broken.shardlens") << "this is no trace";
  const RunLibrary library({runs, {}}, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(rows(library), 1u);
  ASSERT_EQ(library.state().ledger->problems.size(), 1u);
  EXPECT_NE(library.state().ledger->problems[0].find("broken.shardlens"), std::string::npos);
}

TEST_F(LibraryTest, ALiveRunsRowFollowsItsView) {
  SyntheticOptions options;
  options.start_ns = wall_now_ns();
  SyntheticRun run(runs, options);
  run.add_steps(4);
  RunLibrary library({runs, {}}, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded && rows(library) == 1; }));
  auto view = std::make_shared<ui::RunView>();
  view->figures.info = run.info();
  view->figures.info.folder = library.state().ledger->rows[0].folder;
  view->figures.summary.steps_executed = 312;
  library.set_live(view);
  EXPECT_TRUE(
      eventually([&] { return library.state().ledger->rows[0].summary.steps_executed == 312; }));
  run.finish();
  EXPECT_TRUE(eventually([&] {
    const auto ledger = library.state().ledger;
    const auto& row = ledger->rows[0];
    return row.status == trace::RunStatus::kDone && row.summary.steps_executed == 4;
  }));
}

TEST_F(LibraryTest, MarksBaselineAndShownRun) {
  const auto a = write_run(runs, "a", 6, kLongAgo);
  const auto b = write_run(runs, "b", 6, kLongAgo + 1'000'000'000);
  RunLibrary library({runs, {}}, [] {});
  library.set_baseline(a.string());
  library.set_shown(b.string());
  ASSERT_TRUE(eventually([&] {
    const auto ledger = library.state().ledger;
    return ledger->rows.size() == 2 && ledger->rows[1].is_baseline && ledger->rows[0].is_shown;
  }));
  EXPECT_TRUE(library.state().ledger->rows[0].relative_to_baseline);
}

}  // namespace
}  // namespace shardlens::app
