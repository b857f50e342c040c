#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/trace/store/store_fixture.h"
#include "trace/store/pack.h"
#include "trace/store/query.h"
#include "trace/store/run_folder.h"
#include "trace/store/run_reader.h"
#include "trace/store/schema.h"
#include "trace/store/schema_check.h"
#include "trace/store/stop_reading.h"
#include "trace/store/trace_file.h"
#include "trace/store/verify.h"

namespace shardlens::trace {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::HasSubstr;

// Changes a trace as somebody would who wants to harm whoever opens it.
void change(const fs::path& file, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sql << ": " << sqlite3_errmsg(connection);
  sqlite3_close(connection);
}

constexpr const char* kEndless =
    "(with recursive n(i) as (select 1 union all select i+1 from n) select max(i) from n)";

struct HostileCase {
  const char* name;
  std::string sql;
  const char* told;
};

class HostileFile : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileFile, IsRefusedByNameBeforeAnythingOfItRuns) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "hostile", 1, 2);
  for (const fs::path& file : {run / kRunFile, rank_file(run, 0)}) {
    fs::copy_file(file, beside(file, ".good"));
    change(file, GetParam().sql);
    const auto begin = std::chrono::steady_clock::now();
    const auto opened = TraceFile::open(file);
    ASSERT_FALSE(opened) << file;
    EXPECT_THAT(opened.error().message, HasSubstr(GetParam().told));
    EXPECT_THAT(opened.error().message, HasSubstr(file.filename().string()));
    EXPECT_FALSE(open_for_writing(file));
    EXPECT_FALSE(query_run(run, "select * from step", {}));
    EXPECT_FALSE(pack_run(run, folder / "packed.shardlens", {}));
    const auto verified = verify_run(run);
    ASSERT_TRUE(verified);
    EXPECT_FALSE(verified->damage.empty());
    const auto reader = RunReader::open(run);
    EXPECT_TRUE(!reader || !(*reader)->poll());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    fs::rename(beside(file, ".good"), file);
  }
  EXPECT_TRUE(TraceFile::open(run / kRunFile));
}

INSTANTIATE_TEST_SUITE_P(
    Every, HostileFile,
    testing::Values(
        HostileCase{"EndlessView",
                    std::string("drop table meta; create view meta as select 1 as row_id, -1 as "
                                "rank, 'name' as key, ") +
                        kEndless + " as value",
                    "view 'meta'"},
        HostileCase{"ViewOfManyBytes",
                    "drop table step; create view step as select zeroblob(900000000) as loss",
                    "view 'step'"},
        HostileCase{"FurtherView", "create view more as select 1", "view 'more'"},
        HostileCase{
            "Trigger",
            std::string("create trigger t after update on meta begin select ") + kEndless + "; end",
            "trigger 't'"},
        HostileCase{"VirtualTable", "create virtual table words using fts5(text)", "table 'words"},
        HostileCase{"Index", "create index i on meta(key)", "index 'i'"},
        HostileCase{"ForeignTable", "create table other(a)", "table 'other'"},
        HostileCase{"GeneratedColumn",
                    "drop table step; create table step(row_id INTEGER PRIMARY KEY, rank INTEGER "
                    "as (1)) strict",
                    "'step' is not as"},
        HostileCase{"FurtherColumn", "alter table step add column more INTEGER", "'step' is not"},
        HostileCase{"NotStrict",
                    "drop table setting; create table setting(key TEXT PRIMARY KEY NOT NULL, value "
                    "TEXT NOT NULL)",
                    "'setting' is not as"},
        HostileCase{"MissingTable", "drop table span", "lacks the table 'span'"},
        HostileCase{"ViewInAnOlderFormat",
                    "pragma user_version=2; drop table step; create view step as select 1",
                    "view 'step'"}),
    [](const auto& of) { return of.param.name; });

// The page of a table's root, which becomes one of inner cells that all lead to itself.
void lead_in_a_circle(const fs::path& file, const std::string& table) {
  std::int64_t page = 0, size = 0;
  {
    auto database = Database::open(file.string(), SQLITE_OPEN_READONLY, "it");
    page = *database->integer("select rootpage from sqlite_schema where name='" + table + "'");
    size = *database->integer("pragma page_size");
  }
  const auto big_endian = [](std::int64_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  // https://www.sqlite.org/fileformat.html, section 1.6: cells of a child's page and a key.
  constexpr int kCells = 200;
  const std::int64_t content = size - kCells * 5;
  std::string data = "\x05" + big_endian(0, 2) + big_endian(kCells, 2) + big_endian(content, 2) +
                     big_endian(0, 1) + big_endian(page, 4);
  for (int i = 0; i < kCells; ++i) data += big_endian(content + 5 * i, 2);
  data.resize(static_cast<std::size_t>(content), '\0');
  for (int i = 0; i < kCells; ++i) data += big_endian(page, 4) + static_cast<char>(i % 100);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp((page - 1) * size);
  stream.write(data.data(), static_cast<std::streamsize>(data.size()));
}

TEST(HostilePages, ThatLeadInACircleEnd) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "circle", 1, 2);
  lead_in_a_circle(rank_file(run, 0), "step");
  const auto begin = std::chrono::steady_clock::now();
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  EXPECT_FALSE((*reader)->poll());
  EXPECT_FALSE(query_run(run, "select sum(loss) from step", {}));
  const auto verified = verify_run(run);
  ASSERT_TRUE(verified);
  EXPECT_FALSE(verified->damage.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HostileRows, EndWhereAFileCannotHoldMore) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "endless", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  auto statement = file->database().prepare(
      "with recursive n(i) as (select 1 union all select i+1 from n) select i from n");
  ASSERT_TRUE(statement);
  Result<bool> row = true;
  while (row && *row) row = statement->step();
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().kind, ErrorKind::kDamaged);
}

TEST(HostileValues, AreNoLongerThanAnyOfOurs) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "long", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  const auto length = file->database().integer("select length(zeroblob(900000000))");
  ASSERT_FALSE(length);
  EXPECT_EQ(length.error().kind, ErrorKind::kDamaged);
}

// As reading a value of many pages that all rows share: few rows, few instructions.
void nap(sqlite3_context* context, int, sqlite3_value**) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  sqlite3_result_int(context, 1);
}

TEST(HostileRows, EndWhereAFileOfTheirSizeCannotTakeLonger) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "slow", 1, 2);
  auto database = Database::open(rank_file(run, 0).string(), SQLITE_OPEN_READONLY, "'slow'");
  ASSERT_TRUE(database && database->distrust(std::chrono::milliseconds(200)));
  sqlite3_create_function(database->get(), "nap", 0, SQLITE_UTF8, nullptr, nap, nullptr, nullptr);
  const char* const endless =
      "with recursive n(i) as (select 1 union all select i+1 from n limit 300) select nap() from n";
  auto rows = database->prepare(endless);
  ASSERT_TRUE(rows);
  const auto begin = std::chrono::steady_clock::now();
  Result<bool> row = true;
  while (row && *row) row = rows->step();
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("takes longer"));
  EXPECT_THAT(row.error().message, HasSubstr("'slow'"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  // What the reader does with rows is not the file's fault, nor what other statements took.
  auto quick = database->prepare("select rank from meta");
  for (row = quick->step(); row && *row; row = quick->step()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  EXPECT_TRUE(row);
}

TEST(StopReading, IsAskedWhileShortRowsFollowEachOther) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "rows", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  auto rows = file->database().prepare(
      "with recursive n(i) as (select 1 union all select i+1 from n limit 20000) select i from n");
  ASSERT_TRUE(rows);
  int asked = 0;
  const StopReading stop([&] { return ++asked == 2; });
  Result<bool> row = true;
  while (row && *row) row = rows->step();
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("stopped"));
}

TEST(StopReading, EndsStatementsOfItsThread) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "stopped", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  const auto slow = [&] {
    return file->database().integer(
        "with recursive n(i) as (select 1 union all select i+1 from n "
        "limit 200000) select sum(i) from n");
  };
  EXPECT_TRUE(slow());
  {
    int asked = 0;
    // Once, as a signal.
    const StopReading stop([&] { return ++asked == 2; });
    const auto stopped = slow();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::kFailed);
    EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
    EXPECT_TRUE(StopReading::wanted());
  }
  EXPECT_TRUE(slow());
}

}  // namespace
}  // namespace shardlens::trace
