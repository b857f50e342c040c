#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "tests/trace/store/processor_time.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/upkeep/verify.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::computed_ns;
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
    fs::copy_file(file, base::beside(file, ".good"));
    change(file, GetParam().sql);
    const std::int64_t begin = computed_ns();
    const auto opened = TraceFile::open(file);
    ASSERT_FALSE(opened) << file;
    EXPECT_THAT(opened.error().message, HasSubstr(GetParam().told));
    EXPECT_THAT(opened.error().message, HasSubstr(file.filename().string()));
    EXPECT_THAT(opened.error().message, testing::Not(HasSubstr("\n")));
    EXPECT_FALSE(open_for_writing(file));
    EXPECT_FALSE(query_run(run, "select * from step", {}));
    EXPECT_FALSE(pack_run(run, folder / "packed.shardlens", {}));
    const auto verified = verify_run(run);
    ASSERT_TRUE(verified);
    EXPECT_FALSE(verified->damage.empty());
    const auto reader = RunReader::open(run);
    EXPECT_TRUE(!reader || !(*reader)->poll());
    EXPECT_LT(computed_ns() - begin, 2'000'000'000);
    fs::rename(base::beside(file, ".good"), file);
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
        HostileCase{"SchemaOfSeveralLines",
                    "pragma writable_schema=on; update sqlite_schema set sql='create table meta(\"a"
                    "\nb' where name='meta'",
                    "unrecognized token: \"\"a b\""},
        HostileCase{"MissingTable", "drop table span", "lacks the table 'span'"}),
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
  const std::int64_t begin = computed_ns();
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  EXPECT_FALSE((*reader)->poll());
  EXPECT_FALSE(query_run(run, "select sum(loss) from step", {}));
  const auto verified = verify_run(run);
  ASSERT_TRUE(verified);
  EXPECT_FALSE(verified->damage.empty());
  EXPECT_LT(computed_ns() - begin, 20'000'000'000);
}

TEST(HostileRows, EndWhereAFileCannotHoldMore) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "endless", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  auto statement = file->database().prepare(
      "with recursive n(i) as (select 1 union all select i+1 from n) select i from n");
  ASSERT_TRUE(statement);
  base::Result<bool> row = true;
  while (row && *row) row = statement->step();
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().kind, base::ErrorKind::kDamaged);
}

TEST(HostileValues, AreNoLongerThanAnyOfOurs) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "long", 1, 2);
  auto file = TraceFile::open(rank_file(run, 0));
  ASSERT_TRUE(file);
  const auto length = file->database().integer("select length(zeroblob(900000000))");
  ASSERT_FALSE(length);
  EXPECT_EQ(length.error().kind, base::ErrorKind::kDamaged);
}

using Bytes = std::vector<unsigned char>;

Bytes read_page(std::fstream& stream, std::size_t page, std::size_t size) {
  Bytes bytes(size);
  stream.seekg(static_cast<std::streamoff>(page * size));
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  return bytes;
}

// https://www.sqlite.org/fileformat2.html, section 1.6: seven bits a byte, of three bytes.
std::size_t varint_at(const Bytes& page, std::size_t at) {
  return (page[at] & 0x7fu) << 14 | (page[at + 1] & 0x7fu) << 7 | page[at + 2];
}
void put_varint(Bytes& page, std::size_t at, std::size_t value) {
  page[at] = static_cast<unsigned char>(0x80 | value >> 14);
  page[at + 1] = static_cast<unsigned char>(0x80 | (value >> 7 & 0x7f));
  page[at + 2] = static_cast<unsigned char>(value & 0x7f);
}

// A row of `log` is so large that it begins with 489 bytes in its cell, of which twelve are no
// text, and goes on in pages of its own.
constexpr std::size_t kPageBytes = 4096, kInCell = 489, kBesideText = 12;
constexpr std::size_t payload_in(std::size_t further_pages) {
  return kInCell + further_pages * (kPageBytes - 4);
}

// Of all cells with the payload `small`: where they lie, and where their row goes on.
struct SharedCells {
  std::size_t small = 0, large = 0;
  Bytes next_page{};  // of the large row

  // True if something of the page was changed.
  bool share(Bytes& page) {
    if (page[0] != 0x0d) return false;
    bool is_changed = false;
    const std::size_t cells = page[3] << 8 | page[4];
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t cell = page[8 + 2 * i] << 8 | page[9 + 2 * i];
      if (cell + kInCell > page.size()) continue;
      std::size_t payload = cell + 3;
      while ((page[payload++] & 0x80) != 0) continue;  // the row id
      const auto next = page.begin() + static_cast<std::ptrdiff_t>(payload + kInCell);
      if (varint_at(page, cell) == large) next_page.assign(next, next + 4);
      if (varint_at(page, cell) != small || next_page.empty()) continue;
      put_varint(page, cell, large);
      put_varint(page, payload + 5, (large - kBesideText) * 2 + 13);  // the text's type and length
      std::ranges::copy(next_page, next);
      is_changed = true;
    }
    return is_changed;
  }
};

// Lines of a log that are all as long as the first, since their pages are the first one's.
void share_pages(const fs::path& file, int rows) {
  const SharedCells sizes{payload_in(4), payload_in(256)};
  const auto insert = [&](int first, int count, std::size_t payload) {
    change(file, "with recursive n(i) as (select " + std::to_string(first_row_id(0) + first) +
                     " union all select i+1 from n limit " + std::to_string(count) +
                     ") insert into log select i, 0, 1, 'info', hex(zeroblob(" +
                     std::to_string((payload - kBesideText) / 2) + ")) || '" +
                     ((payload - kBesideText) % 2 == 1 ? "0" : "") + "' from n");
  };
  change(file, "delete from log");
  insert(1, 1, sizes.large);
  insert(2, rows - 1, sizes.small);
  change(file, "update batch set last_log = " + std::to_string(first_row_id(0) + rows));
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  SharedCells cells = sizes;
  for (std::size_t page = 1; page < fs::file_size(file) / kPageBytes; ++page) {
    Bytes bytes = read_page(stream, page, kPageBytes);
    if (!cells.share(bytes)) continue;
    stream.seekp(static_cast<std::streamoff>(page * kPageBytes));
    stream.write(reinterpret_cast<const char*>(bytes.data()), kPageBytes);
  }
}

TEST(HostileValues, ThatShareTheirPagesEndWhereTheFileCannotHoldThem) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "shared", 1, 2);
  constexpr int kRows = 60;
  share_pages(rank_file(run, 0), kRows);
  auto database = Database::open(rank_file(run, 0).string(), SQLITE_OPEN_READONLY, "it");
  ASSERT_EQ(database->integer("select sum(length(text)) from log").value_or(0),
            static_cast<std::int64_t>(kRows * (payload_in(256) - kBesideText)));
  const std::string told = "values take more than its bytes can hold";
  for (const bool with_paths : {false, true}) {
    PackOptions options;
    options.with_paths = with_paths;
    const auto packed = pack_run(run, folder / "packed.shardlens", options);
    ASSERT_FALSE(packed) << with_paths;
    EXPECT_EQ(packed.error().kind, base::ErrorKind::kDamaged);
    EXPECT_THAT(packed.error().message, HasSubstr(told));
    EXPECT_THAT(packed.error().message, HasSubstr("rank_0.sqlite"));
    EXPECT_FALSE(fs::exists(folder / "packed.shardlens"));
  }
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  const auto polled = (*reader)->poll();
  ASSERT_FALSE(polled);
  EXPECT_THAT(polled.error().message, HasSubstr(told));
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
  base::Result<bool> row = true;
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
    EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
    EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
    EXPECT_TRUE(StopReading::wanted());
  }
  EXPECT_TRUE(slow());
}

TEST(StopReading, EndsWhoReadsOnBehalfOfItsThread) {
  StopReading stop([] { return true; });
  StopReading* const of = StopReading::innermost();
  ASSERT_EQ(of, &stop);
  std::jthread([of] {
    EXPECT_FALSE(StopReading::wanted()) << "a thread of its own";
    {
      const StopReading::OnBehalf reading(of);
      EXPECT_TRUE(StopReading::wanted());
    }
    EXPECT_FALSE(StopReading::wanted());
  }).join();
}

// Each rank's file is read by a thread of its own: none of them may go on.
TEST(StopReading, EndsAPollOfSeveralRanks) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "ranks", 8, 100);
  auto reader = RunReader::open(run);
  ASSERT_TRUE(reader);
  {
    const StopReading stop([] { return true; });
    const auto polled = (*reader)->poll();
    ASSERT_FALSE(polled);
    EXPECT_THAT(polled.error().message, HasSubstr("stopped"));
    EXPECT_EQ((*reader)->problems().size(), 8u);
  }
  const auto polled = (*reader)->poll();
  ASSERT_TRUE(polled);
  EXPECT_EQ(polled->size(), 8u) << "nothing that was stopped counts as read";
}

}  // namespace
}  // namespace shardlens::trace::store
