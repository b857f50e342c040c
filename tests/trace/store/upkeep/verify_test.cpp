#include "trace/store/upkeep/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::change_file;
using test::Folder;
using testing::HasSubstr;
using testing::Not;

class VerifyRun : public testing::Test {
 protected:
  // `steps` of 40 operators; short ones share chunks.
  fs::path record(const std::string& name, int ranks = 3, std::int64_t steps = 3) {
    return test::record_run(folder_.path(), name, ranks, steps);
  }
  static VerifyReport verified(const fs::path& run) {
    const auto report = verify_run(run);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(VerifyReport{});
  }
  static std::string all_text(const VerifyReport& report) {
    std::string text;
    for (const Damage& damage : report.damage) {
      text += damage.file + " rank " + std::to_string(damage.rank) + " lane " +
              std::to_string(damage.lane) + ": " + damage.what + "\n";
    }
    return text;
  }

  const Folder folder_;
};

// A file with the right name, out of the run before.
TEST_F(VerifyRun, ARankOfAnotherRunIsToldAndNotRead) {
  const auto run = record("mixed"), other = record("other");
  change_file(rank_file(other, 1),
              "update step set start_ns=start_ns-100000000000, end_ns=end_ns-100000000000");
  fs::copy_file(rank_file(other, 1), rank_file(run, 1), fs::copy_options::overwrite_existing);
  EXPECT_THAT(all_text(verified(run)), HasSubstr("is of another run: its steps ended before"));
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  std::set<int> ranks;
  const auto problems = read_everything(**reader, [&](const model::Batch& batch) {
    for (const model::Step& step : batch.steps) ranks.insert(step.rank);
  });
  EXPECT_EQ(ranks, (std::set<int>{0, 2}));
  ASSERT_TRUE(problems);
  EXPECT_THAT(*problems, testing::ElementsAre(HasSubstr("rank_1.sqlite")));
  std::vector<std::string> left_out;
  EXPECT_EQ(open_run_files(run, &left_out)->size(), 3u);
  EXPECT_EQ(left_out.size(), 1u);
}

// Also that of the host that began the run, which may be set back meanwhile.
TEST_F(VerifyRun, ARankWhoseClockIsLessThanAMinuteOffIsNotOfAnotherRun) {
  const auto run = record("clocks");
  for (const auto* change_by : {"-50000000000", "+100000000000"}) {
    SCOPED_TRACE(change_by);
    for (const int rank : {0, 1}) {
      change_file(rank_file(run, rank), std::string("update step set start_ns=start_ns") +
                                            change_by + ", end_ns=end_ns" + change_by);
    }
    EXPECT_THAT(all_text(verified(run)), Not(HasSubstr("another run")));
    EXPECT_EQ(open_run_files(run)->size(), 4u);
  }
}

TEST_F(VerifyRun, BookmarksTravelWithThePackAndBreakNoSeal) {
  const auto run = record("marked");
  ASSERT_TRUE(write_bookmarks(run, {{300, "the late rank"}, {100, ""}, {200, "gone"}}));
  ASSERT_TRUE(write_bookmarks(run, {{200, {}}}));
  EXPECT_EQ(all_text(verified(run)), "");
  const auto packed = folder_ / "sent.shardlens";
  ASSERT_TRUE(pack_run(run, packed));
  const model::Bookmarks expected{{100, ""}, {300, "the late rank"}};
  EXPECT_EQ(read_run_info(packed)->bookmarks, expected);
  const auto after = write_bookmarks(packed, {{100, "named by the receiver"}});
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->front().name, "named by the receiver");
  EXPECT_EQ(read_run_info(packed)->bookmarks, *after);
  EXPECT_EQ(all_text(verified(packed)), "");
}

TEST_F(VerifyRun, FindsNothingInWhatWasRecordedAndPacked) {
  const auto run = record("fine");
  ASSERT_TRUE(pack_run(run, folder_ / "fine.shardlens"));
  for (const fs::path& path : {run, folder_ / "fine.shardlens"}) {
    const VerifyReport report = verified(path);
    EXPECT_TRUE(report.damage.empty()) << all_text(report);
    EXPECT_TRUE(report.notes.empty());
    ASSERT_EQ(report.ranks.size(), 3u);
    for (const auto& [rank, figures] : report.ranks) {
      EXPECT_EQ(figures.events, 129) << "120 operators and 9 collectives";
      EXPECT_EQ(figures.readable_events, 129);
    }
  }
  EXPECT_EQ(verified(run).files, 4);
}

TEST_F(VerifyRun, SaysWhereAFlippedBitIsAndReadsTheRest) {
  const auto run = record("flipped");
  const fs::path file = rank_file(run, 1);
  // The data of the first chunk, found by its bytes.
  std::string data;
  ChunkHeader header;
  {
    auto database = open_for_writing(file);
    auto statement =
        database->prepare("select data, first_ns, last_ns, count from chunk order by row_id");
    ASSERT_TRUE(*statement->step());
    const auto blob = statement->blob(0);
    data.assign(reinterpret_cast<const char*>(blob.data()), std::min<std::size_t>(blob.size(), 64));
    header = {statement->integer(1), statement->integer(2), statement->integer(3), 0, 0};
  }
  const auto at = test::bytes_of(file).find(data);
  ASSERT_NE(at, std::string::npos);
  test::flip(file, at + 20);
  const VerifyReport report = verified(run);
  ASSERT_EQ(report.damage.size(), 1u) << all_text(report);
  const Damage& damage = report.damage.front();
  EXPECT_THAT(damage.file, HasSubstr("rank_1.sqlite"));
  EXPECT_EQ(damage.rank, 1);
  EXPECT_EQ(damage.lane, 0);
  EXPECT_EQ(damage.kind, "op");
  EXPECT_EQ(damage.first_ns, header.first_ns);
  EXPECT_EQ(damage.last_ns, header.last_ns);
  EXPECT_EQ(damage.events, header.count);
  EXPECT_THAT(damage.what, HasSubstr("checksum"));
  EXPECT_EQ(report.ranks.at(1).readable_events, 129 - header.count);
  EXPECT_EQ(report.ranks.at(0).readable_events, 129);
}

// A change to a file, and what is told of it.
struct ChangedRow {
  const char* sql;
  const char* told;
};

constexpr ChangedRow kChangesOfRanks[] = {
    {"update step set loss=loss*1.000001 where step=1", "step 2"},
    {"update step set loss=null where step=1", "step 2"},
    {"update string set text=text||'x' where id=13", "string"},
    {"update lane set name=name||'x'", "lane 1"},
    {"update memory set outside_bytes=outside_bytes+1 where step=2", "memory"},
    {"update log set text='fine'", "log"},
    {"update chunk set lane=lane+1", "commit"},
    {"update batch set committed_ns=committed_ns+1 where row_id=2", "commit 2"},
    {"delete from batch where row_id=1", "commit 1"},
    {"update rank set peak_flops=peak_flops*2", "tables rank"},
    {"update recorder_cost set callback_ns=callback_ns+1", "recorder_cost"},
    {"update meta set value='1' where key='created_ns'", "commit 1"},
    {"insert into step select -5,rank,step,start_ns,end_ns,loss,gradient_norm,"
     "learning_rate,tokens,samples,model_flops,full_detail,nonfinite from step where step=1",
     "of ranks that the file does not have"},
    {"insert into heartbeat select 7,alive_ns,progress_ns,step,phase from heartbeat",
     "of ranks that the file does not have"},
    {"delete from meta", "of ranks that the file does not have"},
    // Of a rank that has committed nothing.
    {"insert into meta(row_id,rank,key,value) select row_id+1099511627776,1,key,value from meta",
     "of ranks that the file does not have"},
    {"update batch set checksum=0 where row_id=1", "commit 1"},
};

constexpr ChangedRow kChangesOfRuns[] = {
    {"delete from meta where key='checksum'", "settings have no checksum"},
    {"insert into meta(row_id,rank,key,value) select 255,rank,key,value from meta where "
     "key='checksum'",
     "or has several"},
    {"update setting set value='7' where key='seed'", "settings"},
    {"update meta set value='other' where key='name'", "name"},
    {"delete from setting where key='seed'", "settings"},
    {"insert into meta(row_id,rank,key,value) select 5,0,key,value from meta where key='name'",
     "of ranks that the file does not have"},
};

class ChangedRows : public VerifyRun {
 protected:
  // One rank, three steps, a commit each.
  fs::path record_commits() {
    model::RunInfo info = test::run_info("changed", 1);
    const auto run = *create_run(folder_.path(), info, false);
    auto writer = RowWriter::create_file(rank_file(run, 0), 0);
    EXPECT_TRUE(writer);
    for (std::int64_t step = 0; step < 3; ++step) {
      EXPECT_TRUE(writer->begin() && writer->write(test::step_batch(0, step)) &&
                  writer->commit(1000 + step));
    }
    return run;
  }
  // With this alone; then it is taken back.
  void expect_found(const fs::path& run, const fs::path& file, const ChangedRow& changed) {
    SCOPED_TRACE(changed.sql);
    const fs::path good = folder_ / "good";
    fs::copy_file(file, good, fs::copy_options::overwrite_existing);
    change_file(file, changed.sql);
    const auto report = verified(run);
    fs::copy_file(good, file, fs::copy_options::overwrite_existing);
    ASSERT_FALSE(report.damage.empty());
    EXPECT_THAT(all_text(report), HasSubstr(changed.told));
    EXPECT_THAT(report.damage.front().file, HasSubstr(file.filename().string()));
  }
};

TEST_F(ChangedRows, AreEachFound) {
  const auto run = record_commits();
  ASSERT_TRUE(checkpoint_run(run));
  ASSERT_TRUE(verified(run).damage.empty()) << all_text(verified(run));
  for (const ChangedRow& each : kChangesOfRanks) expect_found(run, rank_file(run, 0), each);
  for (const ChangedRow& each : kChangesOfRuns) expect_found(run, run / kRunFile, each);
  EXPECT_TRUE(verified(run).damage.empty()) << all_text(verified(run));
}

TEST_F(VerifyRun, TakesARunThatWasUpdatedAsIntact) {
  const auto run = record("updated", 1);
  auto info = read_run_info(run);
  ASSERT_TRUE(info);
  info->status = model::RunStatus::kDone;
  info->reason = "because";
  ASSERT_TRUE(update_run(run, *info));
  EXPECT_TRUE(verified(run).damage.empty()) << all_text(verified(run));
}

TEST_F(VerifyRun, ATruncatedFileIsDamagedAndTheOtherRanksAreRead) {
  const auto run = record("cut");
  const fs::path file = rank_file(run, 2);
  fs::resize_file(file, fs::file_size(file) * 2 / 3);
  const VerifyReport report = verified(run);
  ASSERT_FALSE(report.damage.empty());
  EXPECT_THAT(all_text(report), HasSubstr("rank_2.sqlite"));
  EXPECT_THAT(all_text(report), HasSubstr("truncated"));
  EXPECT_EQ(report.ranks.at(0).readable_events, 129);
  EXPECT_EQ(report.ranks.at(1).readable_events, 129);
  EXPECT_FALSE(report.ranks.contains(2));
}

TEST_F(VerifyRun, ARankWithoutAFileIsMissed) {
  const auto run = record("missing");
  fs::remove(rank_file(run, 1));
  EXPECT_THAT(all_text(verified(run)), HasSubstr("2 of 3 ranks"));
}

TEST_F(VerifyRun, ARanksFileThatIsNoTraceIsToldOnce) {
  const auto run = record("foreign");
  fs::remove(rank_file(run, 1));
  std::ofstream(rank_file(run, 1)) << std::string(200, 'x');
  const VerifyReport report = verified(run);
  ASSERT_EQ(report.damage.size(), 1u) << all_text(report);
  EXPECT_THAT(report.damage[0].file, HasSubstr("rank_1.sqlite"));
}

TEST_F(VerifyRun, RowsThatAreNotThereAreMissed) {
  const auto run = record("rows");
  change_file(rank_file(run, 0), "delete from step where step = 1");
  change_file(rank_file(run, 2), "delete from chunk");
  const VerifyReport report = verified(run);
  EXPECT_THAT(all_text(report), HasSubstr("table step has 2 rows of 3"));
  EXPECT_THAT(all_text(report), HasSubstr("table chunk has 0 rows of"));
  EXPECT_EQ(report.ranks.at(2).events, 9) << "its collectives, which are rows";
}

TEST_F(VerifyRun, EventsThatAreNeitherThereNorLostAreMissed) {
  const auto run = record("counts", 1, 4);
  // Recorded: 160 operators and 12 collectives; 17 are counted as lost.
  const auto tell_events = [&](const char* sum) {
    change_file(rank_file(run, 0), std::string("update recorder_cost set events = ") + sum);
    auto database = open_for_writing(rank_file(run, 0));
    ASSERT_TRUE(RowCheck(*database, 0).seal());
  };
  tell_events("160 + 12 + 17");
  VerifyReport report = verified(run);
  EXPECT_TRUE(report.damage.empty()) << all_text(report);
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_EQ(report.lost[0].count, 17);
  EXPECT_EQ(report.lost[0].reason, "operator queue full");
  tell_events("160 + 12 + 17 + 5");
  report = verified(run);
  ASSERT_EQ(report.damage.size(), 1u) << all_text(report);
  EXPECT_EQ(report.damage[0].events, 5);
  EXPECT_EQ(report.damage[0].rank, 0);
}

TEST_F(VerifyRun, NamesThatAreNotThereAreMissed) {
  const auto run = record("names", 1, 1);
  change_file(rank_file(run, 0), "update string set id = 5000 where id = 13");
  EXPECT_THAT(all_text(verified(run)), HasSubstr("name that table string lacks"));
}

TEST_F(VerifyRun, ReversedEventsAreToldAndNoDamage) {
  model::RunInfo info = test::run_info("reversed", 1);
  const auto run = *create_run(folder_.path(), info, false);
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  model::Batch batch;
  batch.events = {
      {0, 0, model::EventKind::kKernel, {{1'000, -400, 0, 0, 0, 0}, {2'000, 5, 0, 0, 0, 0}}}};
  ASSERT_TRUE(writer->begin());
  ASSERT_TRUE(writer->write(batch));
  ASSERT_TRUE(writer->commit(3'000));
  const VerifyReport report = verified(run);
  EXPECT_TRUE(report.damage.empty()) << all_text(report);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("1 event that end"));
}

TEST_F(VerifyRun, RanksThatAFailedRunLacksAreTold) {
  model::RunInfo info = test::run_info("failed", 2);
  info.status = model::RunStatus::kFailed;
  const auto run = *create_run(folder_.path(), info, false);
  ASSERT_TRUE(RowWriter::create_file(rank_file(run, 0), 0));
  const VerifyReport report = verified(run);
  EXPECT_TRUE(report.damage.empty()) << all_text(report);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("1 of 2 ranks are there: the run failed"));
}

TEST_F(VerifyRun, ARunThatIsBeingRecordedIsWholeAfterEveryCommit) {
  model::RunInfo info = test::run_info("live", 2);
  const auto run = *create_run(folder_.path(), info, false);
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  for (std::int64_t step = 0; step < 4; ++step) {
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(test::step_batch(0, step)));
    const VerifyReport before = verified(run);
    EXPECT_TRUE(before.damage.empty()) << all_text(before);
    EXPECT_EQ(before.ranks.at(0).events, 43 * step);
    ASSERT_TRUE(writer->commit(1'000 + step));
    const VerifyReport after = verified(run);
    EXPECT_TRUE(after.damage.empty()) << all_text(after);
    EXPECT_EQ(after.ranks.at(0).readable_events, 43 * (step + 1));
  }
}

TEST_F(VerifyRun, EndsWhenStopped) {
  const auto run = record("stopped");
  VerifyOptions options;
  std::vector<double> told;
  options.progress = [&](double part) {
    told.push_back(part);
    return true;
  };
  ASSERT_TRUE(verify_run(run, options));
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GT(told.back(), 0.5);
  options.progress = [](double) { return false; };
  const auto stopped = verify_run(run, options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_EQ(verify_run(folder_ / "absent").error().kind, base::ErrorKind::kMissing);
}

TEST(RunsThatComeWithTheProgram, AreWholeAndTellNobodysMachine) {
  int runs = 0;
  for (const auto& file : fs::directory_iterator(SHARDLENS_BUNDLED_RUNS)) {
    if (file.path().extension() != ".shardlens") continue;  // what was found out about them
    SCOPED_TRACE(file.path());
    const auto report = verify_run(file.path());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damage.empty()) << report->damage.front().what;
    EXPECT_TRUE(report->lost.empty());
    const auto info = read_run_info(file.path());
    ASSERT_TRUE(info);
    EXPECT_EQ(report->ranks.size(), static_cast<std::size_t>(info->world_size));
    const auto told = query_run(file.path(),
                                "select count(*) from rank where host <> 'host-1' or process_id "
                                "is not null union all select count(*) from setting where value "
                                "like '/%'");
    ASSERT_TRUE(told) << told.error().message;
    for (const auto& row : told->rows) EXPECT_EQ(to_text(row[0]), "0");
    ++runs;
  }
  EXPECT_EQ(runs, 11);
}

}  // namespace
}  // namespace shardlens::trace::store
