#include <gtest/gtest.h>

#include <iterator>

#include "app/session/runs/library_run.h"
#include "app/session/runs/run_library.h"
#include "app/session/runs/run_words.h"
#include "app/session/sweep/sweep_reader.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/synthetic_run.h"
#include "trace/explore/kept_exploration.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

struct RecordCache : testing::Test {
  TemporaryFolder folder;
  fs::path run;
  LibraryRun record;
  Notice notice;

  RecordCache() {
    SyntheticRun synthetic(folder.path());
    synthetic.add_steps(9);
    synthetic.beat(1'700'000'001'000'000'000);
    synthetic.finish();
    run = synthetic.folder();
    let_rest(run);
    record = read_library_run(run).value();
  }
  fs::path cache() const { return run / kRecordCacheFile; }
  std::optional<LibraryRun> kept() const { return kept_record(run, trace::store::run_stamp(run)); }
};

// Of a step's 8 samples 1024 tokens are no padding.
TEST_F(RecordCache, KeepsWhetherTextsWerePadded) {
  for (const std::int64_t length : {128, 129}) {
    const TemporaryFolder runs;
    SyntheticOptions options;
    options.settings.sequence_length = length;
    run = finished_run(runs.path(), options, 9);
    let_rest(run);
    record = read_library_run(run).value();
    EXPECT_EQ(measured(record).measure.is_padded, length == 129);
    keep_record(record, trace::store::run_stamp(run));
    const auto again = kept();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->is_padded, length == 129);
  }
}

TEST_F(RecordCache, TakesWordsFromTheRunThatSomebodyElseChanged) {
  ASSERT_TRUE(
      trace::store::write_words(run, {.name = {}, .note = "of another program", .tags = {}}));
  keep_record(record, trace::store::run_stamp(run));  // without it
  ASSERT_TRUE(change_bookmarks(run, {{5, "here"}}));
  const auto again = kept();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->info.note, "of another program");
}

TEST_F(RecordCache, StaysValidWhenTheUsersWordsChange) {
  keep_record(record, trace::store::run_stamp(run));
  trace::store::keep(run, trace::explore::kFiguresFile, trace::store::run_stamp(run), "of Inspect");
  ASSERT_TRUE(change_bookmarks(run, {{5, "here"}}));
  ASSERT_TRUE(change_words(run.parent_path(), run, {.name = {}, .note = "a note", .tags = {}}));
  const auto again = kept();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->info.bookmarks, (trace::model::Bookmarks{{5, "here"}}));
  EXPECT_EQ(again->info.note, "a note");
  EXPECT_EQ(again->summary.steps_executed, 9);
  EXPECT_EQ(
      trace::store::read_kept(run, trace::explore::kFiguresFile, trace::store::run_stamp(run)),
      "of Inspect");
}

TEST_F(RecordCache, GivesBackAllThatWasFoundOut) {
  record.losses = {{3, 2.5}, {4, 2.25}};
  record.info.bookmarks = {{5, ""}, {6, "the late rank"}};
  record.peak_total_bytes = 5e9;
  record.liveness.processes = {{"a host", 17}, {"", 18}};
  record.info.predicted = trace::model::StepPrediction{4e8, 3.9e8, std::nullopt, "base"};
  keep_record(record, trace::store::run_stamp(run));
  const auto again = kept();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->info.name, record.info.name);
  EXPECT_EQ(again->info.bookmarks, record.info.bookmarks);
  EXPECT_EQ(again->info.predicted, record.info.predicted);
  EXPECT_EQ(again->summary.steps_executed, 9);
  EXPECT_EQ(again->summary.step_ns.mean, record.summary.step_ns.mean);
  EXPECT_EQ(again->summary.exposed_ns, record.summary.exposed_ns);
  EXPECT_EQ(again->summary.overlap_fraction, record.summary.overlap_fraction);
  EXPECT_EQ(again->summary.loss_last, record.summary.loss_last);
  EXPECT_EQ(again->peak_memory_bytes, record.peak_memory_bytes);
  EXPECT_EQ(again->peak_total_bytes, 5e9);
  ASSERT_EQ(again->noise.step().has_value(), record.noise.step().has_value());
  EXPECT_EQ(again->noise.step()->standard_error, record.noise.step()->standard_error);
  EXPECT_EQ(again->devices, record.devices);
  ASSERT_EQ(again->losses.size(), 2u);
  EXPECT_EQ(again->losses[1].step, 4);
  EXPECT_EQ(again->losses[1].value, 2.25);
  EXPECT_EQ(again->liveness.alive_ns, record.liveness.alive_ns);
  ASSERT_EQ(again->liveness.processes.size(), 2u);
  EXPECT_EQ(again->liveness.processes[0].host, "a host");
  EXPECT_EQ(again->liveness.processes[1].id, 18);
}

TEST_F(RecordCache, SaysNothingOfARunWhoseFilesHaveChanged) {
  keep_record(record, trace::store::run_stamp(run));
  const fs::path changed = run / "rank_1.sqlite";
  const auto time = fs::last_write_time(changed);
  fs::last_write_time(changed, time - std::chrono::seconds(1));  // neither the newest nor larger
  EXPECT_FALSE(kept());
  fs::last_write_time(changed, time);
  EXPECT_TRUE(kept());
  fs::copy(changed, run / "rank_2.sqlite");
  fs::last_write_time(run / "rank_2.sqlite", time);
  EXPECT_FALSE(kept());
}

TEST_F(RecordCache, LeavesNothingBehindWhereItCannotBeWritten) {
  fs::create_directories(cache() / "in the way");
  keep_record(record, trace::store::run_stamp(run));
  EXPECT_FALSE(kept());
  for (const auto& entry : fs::directory_iterator(run)) {
    const auto name = entry.path().filename().string();
    EXPECT_FALSE(name.starts_with(kRecordCacheFile) && name != kRecordCacheFile) << name;
  }
}

TEST_F(RecordCache, SavesTheLibraryFromReadingARunAgain) {
  {
    const RunLibrary library({folder.path(), {}}, notice, [] {});
    ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  }
  const auto found = kept();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->summary.steps_executed, 9);
  record.summary.steps_executed = 77;  // which no file says
  keep_record(record, trace::store::run_stamp(run));
  const RunLibrary library({folder.path(), {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_EQ(library.state().ledger->rows.at(0).summary.steps_executed, 77);
}

struct PackedRecordCache : RecordCache {
  fs::path library = folder.path() / "library", packed = library / "one.shardlens";

  PackedRecordCache() {
    fs::create_directories(library);
    pack();
  }
  void pack() const {
    trace::store::PackOptions options;
    options.overwrite = true;
    EXPECT_TRUE(trace::store::pack_run(run, packed, options));
    fs::last_write_time(packed, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  // How many runs were read whole to list them.
  std::uint64_t listed() {
    const RunLibrary all({library, {}}, notice, [] {});
    EXPECT_TRUE(eventually([&] { return all.state().loaded; }));
    EXPECT_EQ(all.state().ledger->rows.size(), 1u);
    if (all.state().ledger->rows.size() == 1) {
      EXPECT_EQ(all.state().ledger->rows[0].summary.steps_executed, 9);
      EXPECT_EQ(all.state().ledger->rows[0].folder, packed.string());
    }
    return all.state().work.records_read;
  }
};

TEST_F(PackedRecordCache, IsReadOnceByTheLibrary) {
  EXPECT_EQ(listed(), 1u);
  EXPECT_EQ(listed(), 0u);
}

TEST_F(PackedRecordCache, IsForgottenWhenTheFileIsAnotherOrGone) {
  EXPECT_EQ(listed(), 1u);
  const auto time = fs::last_write_time(packed);
  pack();  // as long as it was, another file
  fs::last_write_time(packed, time);
  EXPECT_EQ(listed(), 1u);
  EXPECT_EQ(listed(), 0u);
  const fs::path kept = trace::store::kept_path(packed, kRecordCacheFile);
  ASSERT_TRUE(fs::exists(kept));
  const fs::path renamed = library / "two.shardlens";
  fs::rename(packed, renamed);
  const RunLibrary all({library, {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return all.state().loaded; }));
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(PackedRecordCache, DeletesNothingThatIsNotItsOwn) {
  const fs::path others = library / ".cache" / "huggingface";
  fs::create_directories(others);
  EXPECT_EQ(listed(), 1u);
  EXPECT_TRUE(fs::exists(others));
  // A library from elsewhere may have a link in the folder's place.
  const fs::path kept =
      trace::store::kept_path(packed, kRecordCacheFile).parent_path().parent_path();
  const fs::path home = folder.path() / "home";
  fs::create_directories(home / "letters");
  fs::remove_all(kept);
  fs::create_directory_symlink(home, kept);
  EXPECT_EQ(listed(), 1u);
  EXPECT_TRUE(fs::exists(home / "letters"));
}

TEST_F(RecordCache, IsNotWrittenForARunThatMayStillBeWritten) {
  fs::last_write_time(run / "rank_0.sqlite", fs::file_time_type::clock::now());
  const RunLibrary library({folder.path(), {}}, notice, [] {});
  ASSERT_TRUE(eventually([&] { return library.state().loaded; }));
  EXPECT_FALSE(fs::exists(cache()));
}

}  // namespace
}  // namespace shardlens::app::session
