#include "trace/store/run/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "tests/file_size_limit.h"
#include "tests/trace/store/testing/child_process.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::HasSubstr;

fs::path create(const fs::path& library, const std::string& name, std::int64_t start_ns = 0,
                bool overwrite = false) {
  model::RunInfo info = test::run_info(name, 2);
  if (start_ns != 0) info.start_ns = start_ns;
  const auto folder = create_run(library, info, overwrite);
  EXPECT_TRUE(folder) << folder.error().message;
  return folder ? *folder : fs::path();
}

TEST(RunFolder, KeepsEverythingThatIsKnownOfARun) {
  const Folder folder;
  model::RunInfo info = test::run_info("everything", 2);
  info.settings.data = "/texts/it's \"mine\" 🚀";
  info.settings.learning_rate = 1.25e-7;
  info.shared_gpu = true;
  info.predicted = model::StepPrediction{404.25e6, 398.5e6, 410e6, "small buckets"};
  const auto run = create_run(folder / "runs", info, false);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(info.folder, run->string());
  const auto read = read_run_info(*run);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "everything");
  EXPECT_EQ(read->folder, run->string());
  EXPECT_EQ(read->status, model::RunStatus::kRunning);
  EXPECT_EQ(read->start_ns, info.start_ns);
  EXPECT_EQ(read->end_ns, 0);
  EXPECT_EQ(read->device, "cpu");
  EXPECT_EQ(read->world_size, 2);
  EXPECT_EQ(read->program, "shardlens test");
  EXPECT_EQ(read->settings, info.settings);
  EXPECT_TRUE(read->simulated_link);
  EXPECT_TRUE(read->shared_gpu);
  EXPECT_FALSE(read->communication_off);
  EXPECT_EQ(read->predicted, info.predicted);
}

TEST(RunFolder, KnowsNoPredictionWhereNoneWasMadeOrItIsNoTime) {
  const Folder folder;
  const fs::path plain = create(folder / "runs", "plain");
  EXPECT_EQ(read_run_info(plain)->predicted, std::nullopt);
  model::RunInfo info = test::run_info("without an interval", 2);
  info.predicted = model::StepPrediction{1e6, std::nullopt, std::nullopt, ""};
  EXPECT_EQ(read_run_info(*create_run(folder / "runs", info, false))->predicted, info.predicted);
  info.name = "not a time";
  info.predicted->step_ns = -1;
  EXPECT_EQ(read_run_info(*create_run(folder / "runs", info, false))->predicted, std::nullopt);
}

TEST(RunFolder, TakesAnyNameOfOneLineAndMakesAPlainFolderOfIt) {
  const Folder folder;
  const std::vector<std::string> names{
      "cap 60, hook bf16",  "it's \"quoted\"", "🚀", "../../etc/passwd", "a/b", ".", "", "-rf",
      std::string(500, 'x')};
  for (const std::string& name : names) {
    const auto run = create(folder.path(), name);
    EXPECT_EQ(run.parent_path(), folder.path());
    EXPECT_EQ(read_run_info(run)->name, name);
    EXPECT_EQ(run.filename().string().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"
                                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-"),
              std::string::npos)
        << run;
    EXPECT_EQ(*find_run(name, folder.path()), run);
  }
}

TEST(RunFolder, RefusesNamesThatCannotBePrintedOnALine) {
  const Folder folder;
  for (const std::string name : {"line\nbreak", "red\x1b[31m", "gnp\u202egpj"}) {
    model::RunInfo info = test::run_info(name, 1);
    const auto run = create_run(folder / "runs", info, false);
    ASSERT_FALSE(run) << name;
    EXPECT_EQ(run.error().kind, base::ErrorKind::kUsage);
  }
  EXPECT_FALSE(fs::exists(folder / "runs")) << "nothing was made";
}

TEST(RunFolder, TwoNamesWithTheSameLettersGetTwoFolders) {
  const Folder folder;
  EXPECT_NE(create(folder.path(), "a b"), create(folder.path(), "a_b"));
  EXPECT_EQ(list_runs(folder.path()).runs.size(), 2u);
}

TEST(RunFolder, RefusesATakenNameUnlessItMayOverwrite) {
  const Folder folder;
  const auto first = create(folder.path(), "taken", 1'000'000'000);
  model::RunInfo info = test::run_info("taken", 2);
  const auto second = create_run(folder.path(), info, false);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(second.error().message, HasSubstr("--overwrite"));
  EXPECT_TRUE(fs::exists(first));
  const auto third = create(folder.path(), "taken", 2'000'000'000, true);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(third / kRunFile));
}

TEST(RunFolder, ANameThatNobodyChoseIsNumberedWhereItIsTaken) {
  const Folder folder;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    model::RunInfo info = test::run_info("cap 60", 2);
    const auto run = create_claimed_run(folder.path(), info, TakenName::kIsNumbered);
    ASSERT_TRUE(run) << run.error().message;
    names.push_back(read_run_info(run->folder)->name);
    EXPECT_EQ(info.name, names.back());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"cap 60", "cap 60 2", "cap 60 3"}));
}

TEST(RunFolder, IsThereUntilTheRunThatReplacesItTakesItsPlace) {
  const Folder folder;
  const auto old = create(folder.path(), "job", 1'000'000'000);
  model::RunInfo info = test::run_info("job", 2);
  auto run = create_claimed_run(folder.path(), info, TakenName::kIsReplaced);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(read_run_info(old));
  ASSERT_TRUE(take_place(*run));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(read_run_info(run->folder));
}

TEST(RunFolder, ThatWasToBeReplacedIsKeptOnceItIsRenamed) {
  const Folder folder;
  const auto kept = create(folder.path(), "job", 1'000'000'000);
  model::RunInfo info = test::run_info("job", 2);
  auto run = create_claimed_run(folder.path(), info, TakenName::kIsReplaced);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_TRUE(write_words(kept, {.name = "precious", .note = {}, .tags = {}}));
  ASSERT_TRUE(take_place(*run));
  ASSERT_TRUE(fs::exists(kept));
  EXPECT_EQ(read_run_info(kept)->name, "precious");
}

TEST(RunFolder, ThatWasToBeReplacedMayBeGoneAlready) {
  const Folder folder;
  const auto gone = create(folder.path(), "job", 1'000'000'000);
  model::RunInfo info = test::run_info("job", 2);
  auto run = create_claimed_run(folder.path(), info, TakenName::kIsReplaced);
  ASSERT_TRUE(run) << run.error().message;
  fs::remove_all(gone);
  const auto placed = take_place(*run);
  EXPECT_TRUE(placed) << placed.error().message;
  const fs::path place = folder / "mine";
  model::RunInfo first = test::run_info("first", 2);
  ASSERT_TRUE(create_run_in(place, first, false));
  model::RunInfo second = test::run_info("second", 2);
  auto other = create_run_in(place, second, true);
  ASSERT_TRUE(other) << other.error().message;
  fs::remove_all(place);
  ASSERT_TRUE(take_place(*other));
  EXPECT_EQ(read_run_info(place)->name, "second");
}

TEST(RunFolder, ThatCannotBeReplacedDoesNotKeepTheOthers) {
  const Folder folder;
  const fs::path runs = folder / "runs";
  const auto damaged = create(runs, "job", 2'000'000'000);
  const auto old = create(runs, "one more", 1'000'000'000);
  ASSERT_TRUE(write_words(old, {.name = "job", .note = {}, .tags = {}}));
  model::RunInfo info = test::run_info("job", 2);
  auto run = create_claimed_run(runs, info, TakenName::kIsReplaced);
  ASSERT_TRUE(run) << run.error().message;
  fs::resize_file(damaged / kRunFile, 100);
  EXPECT_FALSE(take_place(*run));
  EXPECT_TRUE(fs::exists(damaged));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(read_run_info(run->folder));
}

// It may lie on another disk, with only a link to it here.
TEST(RunFolder, ThatIsALinkIsRefusedBeforeThereIsAnyWork) {
  const Folder folder;
  const fs::path runs = folder / "runs";
  const auto elsewhere = create(folder / "elsewhere", "job");
  fs::create_directories(runs);
  fs::create_directory_symlink(elsewhere, runs / "linked");
  model::RunInfo info = test::run_info("job", 2);
  const auto refused = create_run(runs, info, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(list_runs(runs).runs.size(), 1u);
  EXPECT_TRUE(fs::exists(elsewhere / kRunFile)) << "nothing is deleted through it";
}

TEST(RunFolder, InAFolderOfTheCallersIsThereUntilTheNewOneTakesItsPlace) {
  const Folder folder;
  const fs::path place = folder / "elsewhere" / "mine";
  const auto write = [&](const std::string& name, bool overwrite) {
    model::RunInfo info = test::run_info(name, 2);
    return create_run_in(place, info, overwrite);
  };
  auto first = write("first", false);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->folder, place);
  EXPECT_FALSE(write("second", true)) << "it is being written";
  first = tl::make_unexpected(base::Error{});
  EXPECT_FALSE(write("second", false));
  auto second = write("second", true);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(read_run_info(place)->name, "first");
  ASSERT_TRUE(take_place(*second));
  EXPECT_EQ(second->folder, place);
  EXPECT_EQ(read_run_info(place)->name, "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(place.parent_path()), {}), 1);
}

TEST(RunFolder, IsNotOverwrittenWhileItIsBeingRecorded) {
  const Folder folder;
  const auto run = create(folder.path(), "live", 1'000'000'000);
  auto writer = TraceWriter::create(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  model::Batch batch;
  batch.rank_info = model::RankInfo{};
  batch.rank_info->host = host;
  batch.rank_info->process_id = getpid();
  batch.heartbeat = model::Heartbeat{};
  batch.heartbeat->alive_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  (*writer)->submit(model::Batch(batch));
  ASSERT_TRUE((*writer)->close());
  model::RunInfo info = test::run_info("live", 2);
  const auto second = create_run(folder.path(), info, true);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(second.error().message, HasSubstr("being recorded"));
  EXPECT_EQ(list_runs(folder.path()).runs.size(), 1u);
}

// Its ranks may take seconds until they give a sign of life.
TEST(RunFolder, IsNotOverwrittenWhileSomebodyClaimsIt) {
  const Folder folder;
  model::RunInfo info = test::run_info("starting", 2);
  auto claimed = std::optional(create_claimed_run(folder.path(), info, TakenName::kIsRefused));
  ASSERT_TRUE(*claimed);
  const fs::path run = (*claimed)->folder;
  EXPECT_TRUE(is_being_recorded(run));
  model::RunInfo next = test::run_info("starting", 2);
  const auto second = create_run(folder.path(), next, true);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("being recorded"));
  EXPECT_TRUE(fs::exists(run / kRunFile));
  claimed.reset();
  EXPECT_FALSE(is_being_recorded(run));
  EXPECT_TRUE(create_run(folder.path(), next, true));
}

TEST(RunFolder, OverwritesAPackedRunOfTheSameName) {
  const Folder folder;
  const auto run = create(folder.path(), "packed");
  ASSERT_TRUE(pack_run(run, folder / "p.shardlens"));
  fs::remove_all(run);
  EXPECT_EQ(*find_run("packed", folder.path()), folder / "p.shardlens");
  create(folder.path(), "packed", 0, true);
  EXPECT_FALSE(fs::exists(folder / "p.shardlens"));
}

TEST(RunFolder, CreatesTheFolderThatAnotherLauncherNames) {
  const Folder folder;
  model::RunInfo info = test::run_info("torchrun", 2);
  ASSERT_TRUE(create_run_at(folder / "deep" / "run", info));
  EXPECT_EQ(read_run_info(folder / "deep" / "run")->name, "torchrun");
  const auto again = create_run_at(folder / "deep" / "run", info);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, base::ErrorKind::kUsage);
}

TEST(RunFolder, ThatCannotBeMadeLeavesNothing) {
  const Folder folder;
  model::RunInfo info = test::run_info("full", 1);
  {
    const test::FileSizeLimit limit(1024);
    EXPECT_FALSE(create_run(folder.path(), info, false));
    EXPECT_FALSE(create_run_in(folder / "mine", info, false));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RunFolder, ThatCannotBeWrittenIsNamed) {
  const Folder folder;
  // Also true for root: a file where a folder is expected.
  test::write_text(folder / "file", "x");
  model::RunInfo info = test::run_info("nowhere", 2);
  const auto in_file = create_run(folder / "file", info, false);
  ASSERT_FALSE(in_file);
  EXPECT_THAT(in_file.error().message, HasSubstr("file"));
  EXPECT_THAT(in_file.error().message, HasSubstr("--runs-dir"));
  fs::permissions(folder.path(),
                  fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const std::string answer = test::as_nobody([&]() -> std::string {
    model::RunInfo mine = test::run_info("nowhere", 2);
    const auto run = create_run(folder / "runs", mine, false);
    return run ? "created" : run.error().message;
  });
  EXPECT_THAT(answer, HasSubstr("Permission denied"));
}

TEST(RunLibrary, ListsTheNewestFirstAndNamesWhatItCannotRead) {
  const Folder folder;
  create(folder.path(), "old", 1'000'000'000'000'000'000);
  create(folder.path(), "new", 2'000'000'000'000'000'000);
  fs::create_directory(folder / "broken");
  test::write_text(folder / "broken" / "run.sqlite", "");
  test::write_text(folder / "notes.txt", "mine");
  test::write_text(folder / "foreign.shardlens", "not a trace at all");
  fs::create_directory(folder / "other folder");
  const Library library = list_runs(folder.path());
  ASSERT_EQ(library.runs.size(), 2u);
  EXPECT_EQ(library.runs[0].name, "new");
  EXPECT_EQ(library.runs[1].name, "old");
  EXPECT_EQ(library.problems.size(), 2u);
}

TEST(RunLibrary, ThatDoesNotExistIsEmpty) {
  const Library library = list_runs("/nowhere/at/all");
  EXPECT_TRUE(library.runs.empty());
  EXPECT_TRUE(library.problems.empty());
}

TEST(RunLibrary, FindsByNameByFolderAndByPath) {
  const Folder folder;
  const auto run = create(folder.path(), "cap 60");
  EXPECT_EQ(*find_run("cap 60", folder.path()), run);
  EXPECT_EQ(*find_run(run.filename().string(), folder.path()), run);
  EXPECT_EQ(*find_run(run.string(), "/nowhere"), run);
  EXPECT_EQ(*find_run(run.string() + "/", "/nowhere"), run) << "as shells complete it";
}

TEST(RunLibrary, IsWhereARunLiesHoweverThatIsNamed) {
  const Folder folder;
  const auto run = create(folder.path(), "cap 60");
  const auto before = std::filesystem::current_path();
  for (const std::string& name : {run.string(), run.string() + "/", run.string() + "/."}) {
    EXPECT_EQ(library_of(name), folder.path()) << name;
  }
  std::filesystem::current_path(run);
  EXPECT_EQ(library_of("."), folder.path());
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(library_of(run.filename()), folder.path());
  std::filesystem::current_path(before);
}

TEST(RunLibrary, NamesTheNearestRuns) {
  const Folder folder;
  for (const char* name : {"cap 60", "cap 25", "baseline", "something else"}) {
    create(folder.path(), name);
  }
  const auto missing = find_run("cap 61", folder.path());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::ErrorKind::kMissing);
  EXPECT_THAT(missing.error().message, HasSubstr("'cap 60', 'cap 25'"));
  EXPECT_THAT(find_run("x", folder / "empty").error().message, HasSubstr("no runs"));
}

TEST(Library, AFolderWithoutTheRunsOwnFileIsTold) {
  const test::Folder folder;
  const auto run = test::record_run(folder.path(), "headless", 2, 1);
  std::filesystem::remove(run / kRunFile);
  const Library library = list_runs(folder.path());
  EXPECT_TRUE(library.runs.empty());
  ASSERT_EQ(library.problems.size(), 1u);
  EXPECT_EQ(library.problems[0].kind, base::ErrorKind::kDamaged);
  EXPECT_NE(library.problems[0].message.find("has no run.sqlite"), std::string::npos);
  EXPECT_NE(library.problems[0].message.find("delete the folder"), std::string::npos);
  const auto found = find_run(run.filename().string(), folder.path());
  ASSERT_TRUE(found) << "whoever opens it says what is wrong";
  EXPECT_EQ(*found, run);
}

}  // namespace
}  // namespace shardlens::trace::store
