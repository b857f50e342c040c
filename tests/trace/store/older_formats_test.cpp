#include "trace/store/older_formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "tests/trace/store/batches_in_range.h"
#include "tests/trace/store/store_fixture.h"
#include "trace/store/pack.h"
#include "trace/store/query.h"
#include "trace/store/rank_files.h"
#include "trace/store/row_check.h"
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
      "delete from meta where key='checksum'; alter table pending drop column end_ns;";
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
  const auto batches = test::batches_in_range(**reader, 0, INT64_MAX);
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

// What format 8 wrote where nobody told, in step 1; in step 2 zeros that are true.
void make_version_8(const fs::path& file, const std::string& rows) {
  auto database = Database::open(file.string(), SQLITE_OPEN_READWRITE, file.string());
  ASSERT_TRUE(database);
  const auto done =
      database->execute("pragma user_version=8; alter table pending drop column end_ns;" + rows);
  ASSERT_TRUE(done) << done.error().message;
  const auto ranks = ranks_in(*database);
  ASSERT_TRUE(ranks);
  for (const int rank : *ranks) ASSERT_TRUE(RowCheck(*database, rank).seal());
}

fs::path run_of_format_8(const Folder& folder) {
  const auto run = test::record_run(folder.path(), "eight", 1, 3, true);
  std::string sql =
      "update step set tokens=0, samples=0, model_flops=0, learning_rate=0 where step=1;"
      "update step set learning_rate=0 where step=2;"
      "update collective set bytes=0, channels=0, sequence=-1 where step=1;"
      "update collective set bytes=0, function='barrier' where step=2;"
      "update pending set bytes=0;"
      "update rank set process_id=0, local_rank=0, parameters=0, trained_parameters=0, "
      "peak_flops=0, link_bytes_per_second=0;"
      "update memory set is_peak=1, reserved_bytes=0, device_used_bytes=-1, device_total_bytes=-1 "
      "where step=1;";
  for (std::size_t i = 0; i < kMemoryColumns.size(); ++i) {
    const std::string column = kMemoryColumns[i], highest = kHighestMemoryColumns[i];
    sql += "update memory set " + highest + "=0 where step=1 or " + highest + " is null;";
    if (column != "other_bytes") sql += "update memory set " + column + "=0 where step=1;";
    if (column != "outside_bytes") sql += "update memory set " + column + "=0 where step=2;";
  }
  make_version_8(rank_file(run, 0), sql);
  make_version_8(run / kRunFile, "");
  return run;
}

std::string only_row(const fs::path& run, const std::string& sql) {
  const auto result = query_run(run, sql, {});
  EXPECT_TRUE(result) << result.error().message;
  if (!result || result->rows.size() != 1) return "not one row";
  std::string text;
  for (const QueryValue& value : result->rows[0]) {
    const bool is_null = std::holds_alternative<std::monostate>(value);
    text += (text.empty() ? "" : " ") + (is_null ? std::string("null") : to_text(value));
  }
  return text;
}

void expect_unknown(const fs::path& run) {
  EXPECT_EQ(only_row(run,
                     "select tokens, samples, model_flops, learning_rate from step "
                     "where step=1"),
            "null null null null");
  EXPECT_EQ(only_row(run, "select tokens, learning_rate from step where step=2"), "1024 0");
  const std::string of_calls = "select distinct bytes, channels, sequence from collective where ";
  EXPECT_EQ(only_row(run, of_calls + "step=1"), "null null null");
  EXPECT_EQ(only_row(run, "select distinct bytes from collective where step=2"), "0");
  EXPECT_EQ(only_row(run, "select bytes, end_ns from pending"), "null null");
  EXPECT_EQ(only_row(run,
                     "select process_id, local_rank, parameters, trained_parameters, "
                     "peak_flops, link_bytes_per_second from rank"),
            "null null null null null null");
  EXPECT_EQ(only_row(run,
                     "select parameters_bytes, outside_bytes, other_bytes, reserved_bytes, "
                     "device_used_bytes, other_highest_bytes from memory where step=1"),
            "null null 7 null null null");
  EXPECT_EQ(only_row(run,
                     "select parameters_bytes, outside_bytes, other_bytes, reserved_bytes, "
                     "other_highest_bytes from memory where step=2"),
            "0 8 0 30 null");
  const auto report = verify_run(run);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->damage.empty()) << report->damage.front().what;
}

TEST(OlderFormats, WhatFormat8KeptAsZeroIsNotKnown) {
  const Folder folder;
  const auto run = run_of_format_8(folder);
  expect_unknown(run);
  const auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  const auto batches = (*reader)->poll();
  ASSERT_TRUE(batches);
  const Batch all = test::joined(*batches, 0);
  ASSERT_EQ(all.steps.size(), 3u);
  EXPECT_EQ(all.steps[1].tokens, kNotKnown);
  EXPECT_TRUE(std::isnan(all.steps[1].learning_rate));
  EXPECT_FALSE(all.memory.at(1).knows_categories);
  EXPECT_TRUE(all.memory.at(2).knows_categories);
  const auto packed = folder / "eight.shardlens";
  ASSERT_TRUE(pack_run(run, packed, {}));
  expect_unknown(packed);
  auto database = Database::open(packed.string(), SQLITE_OPEN_READONLY, "packed");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from step where tokens is null"), 1);
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
