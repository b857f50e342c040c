#include "trace/store/older_formats.h"

#include <gtest/gtest.h>

#include "tests/trace/store/store_fixture.h"
#include "trace/store/pack.h"
#include "trace/store/query.h"
#include "trace/store/rank_files.h"
#include "trace/store/run_folder.h"
#include "trace/store/run_reader.h"
#include "trace/store/schema.h"
#include "trace/store/verify.h"

namespace shardlens::trace {
namespace {

namespace fs = std::filesystem;
using test::Folder;

// Takes from a file what version 1 did not have.
void make_version_1(const fs::path& file) {
  auto database = Database::open(file.string(), SQLITE_OPEN_READWRITE, file.string());
  ASSERT_TRUE(database);
  std::string sql =
      "pragma user_version=1; drop table lod; drop table lod_stream; "
      "alter table batch drop column lod_ns; "
      "alter table batch drop column present_checksum; alter table batch drop column checksum; "
      "delete from meta where key='checksum';";
  for (const char* column : {"collective drop column algorithm", "collective drop column protocol",
                             "collective drop column channels", "rank drop column link",
                             "rank drop column link_bytes_per_second",
                             "rank drop column peak_flops_origin", "rank drop column environment",
                             "rank drop column trained_parameters", "rank drop column model"}) {
    sql += std::string("alter table ") + column + ";";
  }
  for (const char* table : {"unit", "unit_parameter", "unit_ready", "evaluation"}) {
    sql +=
        std::string("drop table ") + table + "; alter table batch drop column last_" + table + ";";
  }
  const auto done = database->execute(sql);
  ASSERT_TRUE(done) << done.error().message;
}

fs::path old_run(const Folder& folder, int ranks) {
  const auto run = test::record_run(folder.path(), "old", ranks, 3, true);
  make_version_1(run / kRunFile);
  for (const auto& [rank, file] : rank_files(run)) make_version_1(file);
  return run;
}

// Everything of a rank but what version 1 did not have.
std::string rows_of(const fs::path& run, int rank) {
  auto reader = RunReader::open(run);
  EXPECT_TRUE(reader) << reader.error().message;
  if (!reader) return {};
  std::vector<Batch> batches;
  for (bool more = true; more;) {
    auto polled = (*reader)->poll();
    EXPECT_TRUE(polled) << polled.error().message;
    if (!polled) return {};
    more = !polled->empty();
    for (auto& batch : *polled) batches.push_back(std::move(batch));
  }
  Batch all = test::joined(batches, rank);
  all.units.clear();
  all.unit_parameters.clear();
  all.unit_ready.clear();
  all.evaluations.clear();
  for (Collective& row : all.collectives) row.algorithm = row.protocol = row.channels = 0;
  if (all.rank_info) {
    all.rank_info->link.clear();
    all.rank_info->link_bytes_per_second = 0;
    all.rank_info->peak_flops_origin.clear();
    all.rank_info->environment.clear();
    all.rank_info->trained_parameters = 0;
    all.rank_info->model.clear();
  }
  return test::text_of(all);
}

TEST(OlderFormats, AreReadAsIfTheyWereOfThisVersion) {
  const Folder folder, other;
  const auto old = old_run(folder, 2);
  const auto same = test::record_run(other.path(), "old", 2, 3, true);
  for (const int rank : {0, 1}) {
    const std::string rows = rows_of(old, rank);
    EXPECT_GT(rows.size(), 1000u);
    EXPECT_EQ(rows, rows_of(same, rank));
  }
}

TEST(OlderFormats, AreReadByTimeRange) {
  const Folder folder;
  auto reader = RunReader::open(old_run(folder, 1));
  ASSERT_TRUE(reader);
  const auto batches = (*reader)->read_range(0, INT64_MAX);
  ASSERT_TRUE(batches) << batches.error().message;
  ASSERT_FALSE(batches->empty());
  EXPECT_TRUE(batches->front().unit_ready.empty());
  EXPECT_FALSE(batches->front().collectives.empty());
}

TEST(OlderFormats, ArePackedIntoThisOne) {
  const Folder folder;
  const auto run = old_run(folder, 2);
  const auto packed = folder / "old.shardlens";
  PackOptions all;
  all.with_paths = true;
  const auto done = pack_run(run, packed, all);
  ASSERT_TRUE(done) << done.error().message;
  auto database = Database::open(packed.string(), SQLITE_OPEN_READONLY, "packed");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("pragma user_version"), kSchemaVersion);
  EXPECT_EQ(*database->integer("select count(*) from unit"), 0);
  for (const int rank : {0, 1}) EXPECT_EQ(rows_of(packed, rank), rows_of(run, rank));
}

TEST(OlderFormats, AnswerQueriesAboutWhatTheyLack) {
  const Folder folder;
  const auto run = old_run(folder, 2);
  const auto units = query_run(run, "select count(*) from unit", {});
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(to_text(units->rows.at(0).at(0)), "0");
  const auto steps = query_run(run, "select count(*) from step where rank = 1", {});
  ASSERT_TRUE(steps);
  EXPECT_EQ(to_text(steps->rows.at(0).at(0)), "3");
}

TEST(OlderFormats, AreNotWrittenToByReading) {
  const Folder folder;
  const auto run = old_run(folder, 1);
  const auto file = rank_file(run, 0);
  const auto before = fs::last_write_time(file);
  EXPECT_FALSE(rows_of(run, 0).empty());
  EXPECT_EQ(fs::last_write_time(file), before);
  auto database = Database::open(file.string(), SQLITE_OPEN_READONLY, "old");
  EXPECT_EQ(*database->integer("pragma user_version"), 1);
  EXPECT_EQ(*database->integer("select count(*) from sqlite_schema where name like 'unit%'"), 0);
}

// Recorded long ago, by format 2.
TEST(OlderFormats, RunsThatComeWithTheProgramAreRead) {
  int runs = 0;
  for (const auto& file : fs::directory_iterator(SHARDLENS_BUNDLED_RUNS)) {
    if (file.path().extension() != ".shardlens") continue;  // what was found out about them
    auto reader = RunReader::open(file.path());
    ASSERT_TRUE(reader) << reader.error().message;
    const auto batches = (*reader)->poll();
    ASSERT_TRUE(batches) << batches.error().message;
    EXPECT_FALSE(batches->empty());
    const auto report = verify_run(file.path());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damage.empty()) << report->damage.front().what;
    ++runs;
  }
  EXPECT_GE(runs, 4);
}

}  // namespace
}  // namespace shardlens::trace
