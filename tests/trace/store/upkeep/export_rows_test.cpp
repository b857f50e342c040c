#include "trace/store/upkeep/export_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/file_size_limit.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/batch_queue.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::HasSubstr;

constexpr int kExportedRanks = 3;
constexpr std::int64_t kExportedSteps = 6;

// What the reader finds: operators of all ranks, and the sum of their durations.
std::pair<std::int64_t, std::int64_t> operators_by_reader(const fs::path& run) {
  const auto reader = RunReader::open(run);
  std::int64_t count = 0, ns = 0;
  while (true) {
    const auto batches = (*reader)->poll();
    if (!batches || batches->empty()) return {count, ns};
    for (const model::Batch& batch : *batches) {
      count += count_events(batch);
      for (const model::EventRun& one : batch.events) {
        for (const model::Event& event : one.events) ns += event.duration_ns;
      }
    }
  }
}

Database opened(const fs::path& file) {
  auto database = Database::open(file.string(), SQLITE_OPEN_READONLY, "exported");
  EXPECT_TRUE(database);
  return std::move(*database);
}

TEST(ExportRows, HoldsAllThatTheReaderFindsAsPlainTables) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "plain", kExportedRanks, kExportedSteps);
  ASSERT_TRUE(pack_run(run, folder / "packed.shardlens"));
  const auto [events, ns] = operators_by_reader(run);
  ASSERT_EQ(events, kExportedRanks * kExportedSteps * 40);
  for (const fs::path& source : {run, folder / "packed.shardlens"}) {
    const fs::path output = folder / ("of " + source.filename().string() + ".sqlite");
    const auto exported = export_rows(source, output);
    ASSERT_TRUE(exported) << exported.error().message;
    Database database = opened(output);
    EXPECT_EQ(*database.integer("select count(*) from op"), events);
    EXPECT_EQ(*database.integer("select sum(duration_ns) from op"), ns);
    EXPECT_EQ(*database.integer("select count(*) from step"), kExportedRanks * kExportedSteps);
    // Names are texts, also where ranks number them differently.
    const auto names = query_run(run, "select count(*) from op where name = 'loss' and rank = 1");
    EXPECT_EQ(
        QueryValue(*database.integer("select count(*) from op where name = 'loss' and rank = 1")),
        names->rows[0][0]);
    std::map<std::string, std::int64_t> told(exported->tables.begin(), exported->tables.end());
    for (const auto& [table, rows] : told) {
      EXPECT_EQ(*database.integer("select count(*) from " + table), rows) << table;
    }
    EXPECT_EQ(told.at("op"), events);
    EXPECT_FALSE(told.contains("chunk"));
    EXPECT_EQ(*database.integer("select count(*) from sqlite_schema where sql like '%virtual%'"),
              0);
    EXPECT_EQ(*database.integer("pragma application_id"), 0);
  }
}

TEST(ExportRows, RefusesToOverwriteUnlessTold) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "twice", 1, 1);
  const auto output = folder / "out.sqlite";
  test::write_text(output, "precious");
  const auto refused = export_rows(run, output);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("--overwrite"));
  EXPECT_EQ(fs::file_size(output), 8u);
  EXPECT_EQ(export_rows(run, folder.path()).error().kind, base::ErrorKind::kUsage);
  EXPECT_EQ(export_rows(folder / "absent", output).error().kind, base::ErrorKind::kMissing);
  ExportOptions options;
  options.overwrite = true;
  ASSERT_TRUE(export_rows(run, output, options));
  EXPECT_EQ(*opened(output).integer("select count(*) from step"), 1);
}

TEST(ExportRows, LeavesNothingBehindWhenItIsStopped) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "stopped", 2, 60, true);
  fs::create_directory(folder / "out");
  std::vector<double> told;
  ExportOptions options;
  options.progress = [&](double part) {
    told.push_back(part);
    return true;
  };
  ASSERT_TRUE(export_rows(run, folder / "whole.sqlite", options));
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  ASSERT_GT(told.size(), 20u);
  EXPECT_GT(told.back(), 0.9);
  for (const std::size_t last : {std::size_t{1}, told.size() / 2, told.size() - 1}) {
    std::size_t asked = 0;
    options.progress = [&](double) { return ++asked < last; };
    const auto stopped = export_rows(run, folder / "out" / "x.sqlite", options);
    ASSERT_FALSE(stopped) << last;
    EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed) << stopped.error().message;
    EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
    EXPECT_TRUE(fs::is_empty(folder / "out"));
  }
}

TEST(ExportRows, AFullDiskIsToldAndLeavesNothingBehind) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "full", 3, 200);
  fs::create_directory(folder / "out");
  std::optional<test::FileSizeLimit> limit(200'000);
  const auto failed = export_rows(run, folder / "out" / "x.sqlite");
  const auto packed = pack_run(run, folder / "out" / "x.shardlens");
  limit.reset();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, base::ErrorKind::kDiskFull) << failed.error().message;
  EXPECT_THAT(failed.error().message, HasSubstr("x.sqlite"));
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().kind, base::ErrorKind::kDiskFull) << packed.error().message;
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

TEST(ExportRows, ADamagedChunkIsNamedAndNothingIsWritten) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "damaged", 2, 3);
  test::change_file(rank_file(run, 1), "update chunk set checksum = checksum + 1");
  fs::create_directory(folder / "out");
  const auto failed = export_rows(run, folder / "out" / "x.sqlite");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(failed.error().message, HasSubstr("rank_1.sqlite"));
  EXPECT_THAT(failed.error().message, HasSubstr("checksum"));
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

}  // namespace
}  // namespace shardlens::trace::store
