#include "app/session/runs/run_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>

#include "app/session/runs/listed_runs.h"
#include "app/session/runs/run_words.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "tests/trace/units.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/kept_file.h"
#include "trace/store/run/library_file.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {
namespace {

std::filesystem::path write_run(const std::filesystem::path& runs_dir, const std::string& name,
                                int steps, std::int64_t start_ns) {
  SyntheticOptions options;
  options.name = name;
  options.start_ns = start_ns;
  return finished_run(runs_dir, options, steps);
}

constexpr std::int64_t kLongAgo = 1'600'000'000'000'000'000;

struct LibraryTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path runs = folder.path() / "runs";
  std::filesystem::path bundled = folder.path() / "bundled";
  Notice notice;

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
  const RunLibrary library({runs, bundled}, notice, [] {});
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
    options.start_ns = trace::base::wall_clock_ns() - 60'000'000'000;
    SyntheticRun run(runs, options);
    run.add_steps(5);
    run.beat(trace::base::wall_clock_ns() - 8'000'000'000);
    run_folder = run.folder();
  }
  // Its files were last written a moment before the library looks.
  const auto recently = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(8);
  for (const auto& entry : std::filesystem::directory_iterator(run_folder)) {
    std::filesystem::last_write_time(entry.path(), recently);
  }
  const RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return rows(library) == 1; }));
  EXPECT_EQ(library.state().ledger->rows[0].status, trace::model::RunStatus::kRunning);
  EXPECT_TRUE(eventually(
      [&] { return library.state().ledger->rows[0].status == trace::model::RunStatus::kFailed; }));
  const auto listed = with_figures(listed_runs(runs).runs.at(0));
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->info.status, trace::model::RunStatus::kFailed);
}

TEST_F(LibraryTest, ARunIsFoundByTheNumberThatIsListed) {
  const auto first = write_run(runs, "first", 4, kLongAgo);
  const auto second = write_run(runs, "second", 4, kLongAgo + 1'000'000'000);
  EXPECT_EQ(find_listed_run("1", runs, {}).value_or(""), first);
  EXPECT_EQ(find_listed_run("2", runs, {}).value_or(""), second);
  EXPECT_EQ(find_listed_run("second", runs, {}).value_or(""), second);
  const auto called = write_run(runs, "1", 4, kLongAgo + 2'000'000'000);
  EXPECT_EQ(find_listed_run("1", runs, {}).value_or(""), called) << "a name goes before a number";
  EXPECT_EQ(find_listed_run("3", runs, {}).value_or(""), called);
  for (const char* none : {"4", "0", "-1", "2x"}) {
    EXPECT_FALSE(find_listed_run(none, runs, {})) << none;
  }
}

TEST_F(LibraryTest, ARunToResumeFromIsFoundByItsNameOrNumberToo) {
  const auto first = write_run(runs, "first", 4, kLongAgo);
  const auto resumed = [&](const std::string& resume) {
    trace::job::Settings settings;
    settings.resume = resume;
    return with_resumed_run(std::move(settings), runs).resume;
  };
  EXPECT_EQ(resumed("first"), first);
  EXPECT_EQ(resumed("1"), first);
  EXPECT_EQ(resumed("none"), "none");
  EXPECT_EQ(resumed(runs), runs) << "what is there is meant";
  EXPECT_EQ(resumed("second"), "second") << "whoever opens it says that there is none";
}

TEST_F(LibraryTest, NoticesNewAndDeletedRuns) {
  const RunLibrary library({runs, {}}, notice, [] {});
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
  const RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(rows(library), 1u);
  ASSERT_EQ(library.state().ledger->problems.size(), 1u);
  EXPECT_NE(library.state().ledger->problems[0].find("broken.shardlens"), std::string::npos);
}

TEST_F(LibraryTest, NoticesThatAnotherProgramRenamesARun) {
  const auto run = write_run(runs, "a", 4, kLongAgo);
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return rows(library) == 1; }));
  // None is due any more because of the run itself.
  const auto settled = library.state().work.looks + 6;
  ASSERT_TRUE(eventually([&] {
    library.refresh();
    return library.state().work.looks > settled;
  }));
  ASSERT_TRUE(change_words(runs, run, {.name = "b", .note = {}, .tags = {{"slow"}}}));
  EXPECT_TRUE(eventually([&] { return library.state().ledger->rows[0].name == "b"; }));
  EXPECT_EQ(library.state().ledger->rows[0].tags, std::vector<std::string>{"slow"});
}

bool tells(const RunLibrary& library, const std::string& problem) {
  const auto ledger = library.state().ledger;
  return std::ranges::any_of(ledger->problems,
                             [&](const auto& each) { return each.find(problem) == 0; });
}

TEST_F(LibraryTest, SaysWhatItCannotKeepForAsLongAsThatIsSo) {
  const auto run = write_run(runs, "a", 4, kLongAgo);
  std::filesystem::create_directory(runs / trace::store::kLibraryFile);  // where a file is to be
  RunLibrary library({runs, {}}, notice, [] {});
  library.pin_baseline(run.string());
  library.refresh();
  ASSERT_TRUE(eventually([&] { return tells(library, "The baseline is not kept"); }));
  const auto looks = library.state().work.looks;
  ASSERT_TRUE(eventually([&] {
    library.refresh();
    return library.state().work.looks > looks + 2;
  }));
  EXPECT_TRUE(tells(library, "The baseline is not kept")) << "not only until the next scan";
  EXPECT_TRUE(tells(library, "The numbers of runs are not kept"));
  std::filesystem::remove(runs / trace::store::kLibraryFile);
  library.pin_baseline(run.string());
  EXPECT_TRUE(eventually([&] { return !tells(library, "The baseline is not kept"); }));
}

TEST_F(LibraryTest, SaysWhyALookHasFailed) {
  write_run(runs, "a", 4, kLongAgo);
  const RunLibrary library({runs, {}}, notice, [] { throw std::runtime_error("no ink"); });
  EXPECT_TRUE(eventually([&] { return tells(library, "The library cannot be read: no ink"); }));
}

TEST_F(LibraryTest, ALiveRunsRowFollowsItsView) {
  SyntheticOptions options;
  options.start_ns = trace::base::wall_clock_ns();
  SyntheticRun run(runs, options);
  run.add_steps(4);
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded && rows(library) == 1; }));
  auto view = std::make_shared<ui::state::RunView>();
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
    return row.status == trace::model::RunStatus::kDone && row.summary.steps_executed == 4;
  }));
}

std::map<std::string, std::string> ordinals(const RunLibrary& library) {
  std::map<std::string, std::string> found;
  for (const auto& row : library.state().ledger->rows) found[row.name] = row.ordinal;
  return found;
}

TEST_F(LibraryTest, NumbersStayWhenAnOlderRunAppearsAndAfterARestart) {
  write_run(runs, "a", 4, kLongAgo);
  const auto b = write_run(runs, "b", 4, kLongAgo + trace::kSecond);
  using Names = std::map<std::string, std::string>;
  {
    RunLibrary library({runs, {}}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
    EXPECT_EQ(ordinals(library), (Names{{"a", "run 1"}, {"b", "run 2"}}));
    EXPECT_EQ(library.state().ledger->next_number, 3);
    write_run(runs, "imported", 4, kLongAgo - trace::kSecond);
    ASSERT_TRUE(eventually([&] { return rows(library) == 3; }));
    EXPECT_EQ(ordinals(library), (Names{{"a", "run 1"}, {"b", "run 2"}, {"imported", "run 3"}}));
  }
  std::filesystem::remove_all(b);
  write_run(runs, "c", 4, kLongAgo + 2 * trace::kSecond);
  const RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(ordinals(library), (Names{{"a", "run 1"}, {"c", "run 4"}, {"imported", "run 3"}}));
}

// The disk is full for a while, say.
TEST_F(LibraryTest, NumbersThatCouldNotBeKeptAreKeptOnceTheyCan) {
  write_run(runs, "a", 4, kLongAgo);
  std::filesystem::create_directory(runs / trace::store::kLibraryFile);  // where a file is to be
  const RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return tells(library, "The numbers of runs are not kept"); }));
  EXPECT_EQ(library.state().ledger->next_number, 2);
  std::filesystem::remove(runs / trace::store::kLibraryFile);
  write_run(runs, "b", 4, kLongAgo + trace::kSecond);
  ASSERT_TRUE(eventually([&] { return rows(library) == 2; }));
  using Names = std::map<std::string, std::string>;
  const Names numbered{{"a", "run 1"}, {"b", "run 2"}};
  EXPECT_EQ(ordinals(library), numbered);
  EXPECT_EQ(library.state().ledger->next_number, 3);
  EXPECT_FALSE(tells(library, "The numbers of runs are not kept"));
  for (const auto& run : listed_runs(runs).runs) {
    EXPECT_EQ("run " + std::to_string(run.record.number), numbered.at(run.record.info.name));
  }
}

TEST_F(LibraryTest, ThePinnedBaselineIsKnownAfterARestart) {
  const auto a = write_run(runs, "a", 4, kLongAgo);
  {
    RunLibrary library({runs, {}}, notice, [] {});
    library.pin_baseline(a.string());
    ASSERT_TRUE(eventually([&] { return library.state().pinned_baseline == a.string(); }));
  }
  const RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(library.state().pinned_baseline, a.string());
}

TEST_F(LibraryTest, WhatIsPinnedAMomentBeforeTheWindowClosesIsKept) {
  const auto a = write_run(runs, "a", 6, kLongAgo);
  for (const std::string& pinned : {a.string(), std::string()}) {
    RunLibrary library({runs, bundled}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
    library.pin_baseline(pinned);
  }
  EXPECT_EQ(trace::store::pinned_baseline(runs).value(), "");
  RunLibrary({runs, bundled}, notice, [] {}).pin_baseline(a.string());
  EXPECT_EQ(trace::store::pinned_baseline(runs).value(), a.filename().string());
}

TEST_F(LibraryTest, WhatItTakesToShowALibraryGrowsWithItsRunsNotWithTheirSquare) {
  constexpr std::uint64_t kRuns = 64;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    const auto start = kLongAgo + static_cast<std::int64_t>(i) * 1'000'000'000;
    let_rest(write_run(runs, "run " + std::to_string(i), 4, start));
  }
  {
    RunLibrary first({runs, {}}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return first.state().loaded; }));
    const auto work = first.state().work;
    EXPECT_EQ(work.infos_read, kRuns);
    EXPECT_EQ(work.records_read, kRuns);
    EXPECT_LE(work.rows_published, 8 * kRuns);
    first.refresh();
    ASSERT_TRUE(eventually([&] { return first.state().work.looks > work.looks; }));
    EXPECT_EQ(first.state().work.infos_read, kRuns) << "what has not changed is not opened again";
  }
  const RunLibrary again({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return again.state().loaded; }));
  const auto work = again.state().work;
  EXPECT_EQ(again.state().ledger->rows.size(), kRuns);
  EXPECT_EQ(work.infos_read, 0u) << "with valid caches no trace is opened";
  EXPECT_EQ(work.records_read, 0u);
  EXPECT_EQ(work.publications, 1u);
}

TEST_F(LibraryTest, ARunThatIsReadForTheScreenIsNotReadForTheLedgerAgain) {
  const auto shown = write_run(runs, "shown", 4, kLongAgo);
  write_run(runs, "other", 4, kLongAgo + 1'000'000'000);
  RunLibrary library({.runs_dir = runs, .bundled_dir = {}, .awaited = shown.string()}, notice,
                     [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  ASSERT_EQ(rows(library), 2u);
  EXPECT_TRUE(library.state().ledger->rows[1].is_being_read);
  EXPECT_EQ(library.state().work.records_read, 1u);
  auto view = std::make_shared<ui::state::RunView>();
  view->figures.info = trace::store::read_run_info(shown).value();
  view->figures.summary.steps_executed = 4;
  view->inode = trace::store::run_stamp(shown).inode;
  library.set_figures(view);
  ASSERT_TRUE(eventually([&] { return !library.state().ledger->rows[1].is_being_read; }));
  EXPECT_EQ(library.state().ledger->rows[1].summary.steps_executed, 4);
  EXPECT_EQ(library.state().work.records_read, 1u);
}

// As an import with --overwrite does.
TEST_F(LibraryTest, FiguresOnScreenAreNotThoseOfARunThatTookThePlaceOfTheirs) {
  for (const std::int64_t later : {0, 1'000'000'000}) {
    const std::string name = "shown " + std::to_string(later);
    const auto shown = write_run(runs, name, 4, kLongAgo);
    RunLibrary library({runs, {}}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
    auto view = std::make_shared<ui::state::RunView>();
    view->figures.info = trace::store::read_run_info(shown).value();
    view->figures.summary.steps_executed = 4;
    view->inode = trace::store::run_stamp(shown).inode;
    library.set_figures(view);
    const auto other = write_run(folder.path(), name, 7, kLongAgo + later);
    std::filesystem::remove_all(shown);
    std::filesystem::rename(other, shown);
    const auto steps = [&] {
      const auto ledger = library.state().ledger;
      const auto row =
          std::ranges::find(ledger->rows, shown.string(), &ui::state::LedgerRow::folder);
      return row == ledger->rows.end() ? -1 : row->summary.steps_executed;
    };
    EXPECT_TRUE(eventually([&] { return steps() == 7; })) << later;
  }
}

TEST_F(LibraryTest, ARunThatNobodyElseReadsAnyMoreIsReadForTheLedger) {
  const auto shown = write_run(runs, "shown", 4, kLongAgo);
  RunLibrary library({.runs_dir = runs, .bundled_dir = {}, .awaited = shown.string()}, notice,
                     [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_TRUE(library.state().ledger->rows[0].is_being_read);
  library.set_awaited("");
  ASSERT_TRUE(eventually([&] { return !library.state().ledger->rows[0].is_being_read; }));
  EXPECT_EQ(library.state().ledger->rows[0].summary.steps_executed, 4);
}

TEST_F(LibraryTest, ARunThatCannotBeReadIsNotReadAgainUntilItChanges) {
  std::ofstream(runs / "broken.shardlens") << "this is no trace";
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  const auto before = library.state().work;
  library.refresh();
  ASSERT_TRUE(eventually([&] { return library.state().work.looks > before.looks; }));
  EXPECT_EQ(library.state().work.infos_read, before.infos_read);
  EXPECT_EQ(library.state().ledger->problems.size(), 1u);
}

// A library that may not read a run. From root nothing is withheld; its thread begins as another
// user.
struct WithheldRun : LibraryTest {
  std::filesystem::path run_file = write_run(runs, "a", 4, kLongAgo) / trace::store::kRunFile;

  static void withhold(const std::filesystem::path& file) {
    std::filesystem::permissions(file, std::filesystem::perms::none);
  }
  static void permit(const std::filesystem::path& file) {
    using std::filesystem::perms;
    std::filesystem::permissions(file, perms::owner_all | perms::group_read | perms::others_read);
  }
  static bool looks_again(RunLibrary& library, std::uint64_t times) {
    const auto before = library.state().work.looks;
    return eventually([&] {
      library.refresh();
      return library.state().work.looks >= before + times;
    });
  }
  std::unique_ptr<RunLibrary> library_of_nobody() {
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    constexpr int kNobody = 65534;
    const int self = setfsuid(kNobody);
    auto library = std::make_unique<RunLibrary>(LibraryFolders{runs, {}}, notice, [] {});
    setfsuid(static_cast<uid_t>(self));
    return library;
  }
};

TEST_F(WithheldRun, IsReadOnceItCanBe) {
  withhold(run_file);
  const auto library = library_of_nobody();
  ASSERT_TRUE(eventually([&] { return library->state().loaded; }));
  EXPECT_EQ(rows(*library), 0u);
  permit(run_file);
  EXPECT_TRUE(eventually([&] { return rows(*library) == 1; }));
}

TEST_F(WithheldRun, IsNotTriedWithEveryLook) {
  withhold(run_file);
  const auto library = library_of_nobody();
  ASSERT_TRUE(looks_again(*library, 20));
  EXPECT_GE(library->state().work.infos_read, 1u);
  EXPECT_LE(library->state().work.infos_read, 5u);
  EXPECT_EQ(library->state().ledger->problems.size(), 1u) << "it is told all the time";
}

TEST_F(WithheldRun, IsNotTriedWithEveryLookWhereItWasDamagedBefore) {
  std::ofstream(run_file) << "this is no trace";
  const auto library = library_of_nobody();
  ASSERT_TRUE(eventually([&] { return library->state().loaded; }));
  ASSERT_EQ(library->state().work.infos_read, 1u);
  withhold(run_file);
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(run_file, now - std::chrono::hours(1));
  ASSERT_TRUE(looks_again(*library, 20));
  EXPECT_GE(library->state().work.infos_read, 2u);
  EXPECT_LE(library->state().work.infos_read, 6u);
}

// Looks at others, or at itself while all went well, make its wait no longer.
TEST_F(WithheldRun, IsReadSoonHoweverOftenWasLooked) {
  const auto other = write_run(runs, "b", 4, kLongAgo) / trace::store::kRunFile;
  const auto whole = folder.path() / "whole";
  std::filesystem::copy_file(other, whole);
  std::ofstream(other) << "this is no trace";
  withhold(run_file);
  const auto library = library_of_nobody();
  ASSERT_TRUE(eventually([&] { return library->state().loaded; }));
  permit(run_file);
  ASSERT_TRUE(eventually([&] { return rows(*library) == 1; }));
  ASSERT_TRUE(looks_again(*library, 20));
  withhold(whole);
  std::filesystem::rename(whole, other);
  ASSERT_TRUE(looks_again(*library, 2));
  permit(other);
  EXPECT_TRUE(eventually([&] { return rows(*library) == 2; }));
}

TEST_F(LibraryTest, MarksBaselineAndShownRun) {
  const auto a = write_run(runs, "a", 6, kLongAgo);
  const auto b = write_run(runs, "b", 6, kLongAgo + 1'000'000'000);
  RunLibrary library({runs, {}}, notice, [] {});
  library.set_baseline(a.string());
  library.set_shown(b.string());
  ASSERT_TRUE(eventually([&] {
    const auto ledger = library.state().ledger;
    return ledger->rows.size() == 2 && ledger->rows[1].is_baseline && ledger->rows[0].is_shown;
  }));
  EXPECT_TRUE(library.state().ledger->rows[0].relative_to_baseline);
}

std::vector<std::string> shown_names(const RunLibrary& library) {
  std::vector<std::string> names;
  for (const auto& row : library.state().ledger->rows) names.push_back(row.name);
  return names;
}

TEST_F(LibraryTest, DeletedRunsComeBackWithTheirNumbersUntilTheWindowCloses) {
  using Strings = std::vector<std::string>;
  const auto a = write_run(runs, "a", 4, kLongAgo);
  const auto b = write_run(runs, "b", 4, kLongAgo + 1'000'000'000);
  {
    RunLibrary library({runs, {}}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
    library.remove({a.string(), b.string()});
    ASSERT_TRUE(eventually([&] { return rows(library) == 0; }));
    EXPECT_FALSE(std::filesystem::exists(a));
    EXPECT_EQ(library.state().ledger->deleted, 2u);
    library.undo_remove();
    ASSERT_TRUE(eventually([&] { return rows(library) == 2; }));
    EXPECT_EQ(ordinals(library),
              (std::map<std::string, std::string>{{"a", "run 1"}, {"b", "run 2"}}));
    EXPECT_EQ(library.state().ledger->deleted, 0u);
    library.remove({a.string()});
    ASSERT_TRUE(eventually([&] { return shown_names(library) == Strings{"b"}; }));
  }
  EXPECT_FALSE(std::filesystem::exists(runs / ".trash"));
  EXPECT_TRUE(std::filesystem::exists(b));
}

TEST_F(LibraryTest, ADeletedRunWhoseNameIsTakenComesBackWithAnother) {
  const auto a = write_run(runs, "a", 4, kLongAgo);
  const auto b = write_run(runs, "b", 4, kLongAgo + 1'000'000'000);
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  library.remove({a.string()});
  library.change_words({{b.string()}, "a", {}, {}});
  library.undo_remove();
  EXPECT_TRUE(eventually([&] {
    return ordinals(library) ==
           std::map<std::string, std::string>{{"a 2", "run 1"}, {"a", "run 2"}};
  }));
}

TEST_F(LibraryTest, ADeletedRunWhosePlaceIsTakenComesBackOnceThatIsFree) {
  const auto a = write_run(runs, "a", 4, kLongAgo);
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  library.remove({a.string()});
  ASSERT_TRUE(eventually([&] { return rows(library) == 0; }));
  std::filesystem::create_directory(a);
  library.undo_remove();
  ASSERT_TRUE(eventually([&] { return notice.take_change(); }));
  EXPECT_THAT(notice.words().text, testing::HasSubstr("is there again"));
  std::filesystem::remove(a);
  library.undo_remove();
  ASSERT_TRUE(eventually([&] { return rows(library) == 1; }));
  EXPECT_EQ(library.state().ledger->deleted, 0u);
}

TEST_F(LibraryTest, DeletesNothingThatIsNotARunOfTheLibrary) {
  const auto other = write_run(bundled, "demo", 4, kLongAgo);
  std::filesystem::create_directory(runs / "documents");
  std::filesystem::create_directory_symlink(other, runs / "link");
  RunLibrary library({runs, bundled}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  for (const auto& place : {runs / "documents", runs / "link", other, runs}) {
    library.remove({place.string()});
    ASSERT_TRUE(eventually([&] { return notice.take_change(); })) << place;
    EXPECT_TRUE(notice.words().is_error) << place;
    EXPECT_TRUE(std::filesystem::exists(place));
  }
}

TEST_F(LibraryTest, WordsAboutARunAreStoredWithItAndNothingIsReadAgain) {
  const auto a = write_run(runs, "a", 4, kLongAgo);
  write_run(runs, "b", 4, kLongAgo + 1'000'000'000);
  let_rest(a);
  RunLibrary library({runs, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  const auto before = library.state().work.records_read;
  library.change_words({{a.string()}, "renamed", "a note", std::vector<std::string>{"x", "y"}});
  const auto row_now = [&]() -> ui::state::LedgerRow {
    for (const auto& row : library.state().ledger->rows) {
      if (row.folder == a.string()) return row;
    }
    return {};
  };
  ASSERT_TRUE(eventually([&] { return row_now().name == "renamed"; }));
  EXPECT_EQ(row_now().note, "a note");
  EXPECT_EQ(row_now().tags, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(row_now().ordinal, "run 1");
  EXPECT_EQ(row_now().summary.steps_executed, 4);
  EXPECT_EQ(library.state().work.records_read, before);
  const auto info = trace::store::read_run_info(a);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "renamed");
  EXPECT_EQ(info->tags, (std::vector<std::string>{"x", "y"}));
  library.change_words({{a.string()}, "b", {}, {}});
  ASSERT_TRUE(eventually([&] { return notice.words().is_error; }));
  EXPECT_EQ(row_now().name, "renamed") << "the name is taken";
}

}  // namespace
}  // namespace shardlens::app::session
