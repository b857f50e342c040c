#include "trace/store/sqlite/reading_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "tests/trace/store/processor_time.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::computed_ns;
using test::Folder;
using testing::HasSubstr;

// As reading a value of many pages that all rows share: few rows, few instructions.
void compute(std::chrono::nanoseconds duration) {
  const std::int64_t end = computed_ns() + duration.count();
  while (computed_ns() < end) continue;
}
void compute_5_ms(sqlite3_context* context, int, sqlite3_value**) {
  compute(std::chrono::milliseconds(5));
  sqlite3_result_int(context, 1);
}
void stop_process(sqlite3_context* context, int, sqlite3_value**) {
  raise(SIGSTOP);
  sqlite3_result_int(context, 1);
}

base::Result<Database> open_with(const fs::path& file, const char* name,
                                 void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  TRY_ASSIGN(Database database, Database::open(file.string(), SQLITE_OPEN_READONLY, "'slow'"));
  TRY(database.distrust(std::chrono::milliseconds(20)));
  sqlite3_create_function(database.get(), name, 0, SQLITE_UTF8, nullptr, function, nullptr,
                          nullptr);
  return database;
}

constexpr const char* kThousandRows =
    "with recursive n(i) as (select 1 union all select i+1 from n limit 1000) select ";

TEST(ReadingTime, EndsWhereAFileOfThatSizeCannotTakeLonger) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "slow", 1, 2);
  auto database = open_with(rank_file(run, 0), "compute", compute_5_ms);
  ASSERT_TRUE(database);
  auto rows = database->prepare(std::string(kThousandRows) + "compute() from n");
  ASSERT_TRUE(rows);
  base::Result<bool> row = true;
  while (row && *row) row = rows->step();
  ASSERT_FALSE(row);
  EXPECT_THAT(row.error().message, HasSubstr("takes longer"));
  EXPECT_THAT(row.error().message, HasSubstr("'slow'"));
  // What the reader does with rows is not the file's fault, nor what other statements took.
  auto quick = database->prepare("select rank from meta");
  for (row = quick->step(); row && *row; row = quick->step()) {
    compute(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(row);
}

TEST(ReadingTime, EndsWhereAllStatementsOfAReadingTakeTooLong) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "whole", 1, 2);
  auto database = open_with(rank_file(run, 0), "compute", compute_5_ms);
  ASSERT_TRUE(database);
  const auto read = [&](int statements) {
    base::Result<std::int64_t> value = 0;
    while (value && statements-- > 0) value = database->integer("select compute()");
    return value;
  };
  EXPECT_TRUE(read(50));
  ReadingTime time;
  const WholeReading whole(*database, time);
  const auto all = read(1000);
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("takes longer"));
}

// The file of a live run: opened while it is small.
TEST(ReadingTime, KnowsThatAFileGrows) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "grows", 1, 2);
  auto database = open_with(rank_file(run, 0), "compute", compute_5_ms);
  ASSERT_TRUE(database);
  const std::string reads_2_s =
      "select count(compute()) from (" + std::string(kThousandRows) + "i from n limit 400)";
  EXPECT_FALSE(database->integer(reads_2_s));
  // 16 MB, which may take 4 s.
  test::change_file(
      rank_file(run, 0),
      "insert into log select row_id + 100, rank, time_ns, level, hex(zeroblob(8000000)) from "
      "log limit 1");
  EXPECT_TRUE(database->integer(reads_2_s)) << "as large as it is now";
  EXPECT_TRUE(database->integer("select count(*) from log")) << "and it is read";
}

// Where somebody asks again and again, say by a join, every answer may take its time.
TEST(ReadingTime, OfAnswersMayTakeAsLongAsTheyNeed) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "answers", 1, 2);
  auto database = open_with(rank_file(run, 0), "compute", compute_5_ms);
  ASSERT_TRUE(database);
  ReadingTime time;
  const WholeReading whole(*database, time, WholeReading::Bound::kAnswers,
                           std::chrono::milliseconds(1));
  // Far more of it than what the file's size allows: the file is read a hundred times and more.
  const std::int64_t begin = computed_ns();
  std::int64_t rounds = 0;
  while (computed_ns() - begin < 1'000'000'000) {
    const auto rows = database->integer(
        "select count(*) from batch a, batch b, batch c, batch d, batch e, batch f");
    ASSERT_TRUE(rows) << rows.error().message << " after " << rounds << " rounds";
    ++rounds;
  }
  EXPECT_GT(rounds, 100);
  base::Result<std::int64_t> value = 0;
  // Each answer, so far and from now on, gives a millisecond and each of these takes five.
  const std::int64_t enough = 1000 + rounds;
  for (std::int64_t i = 0; i < enough && value; ++i) value = database->integer("select compute()");
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("takes longer"));
}

// As if the file had taken all patience before: not each statement has its own.
constexpr std::chrono::hours kNoPatience{-1000};

TEST(ReadingTime, IsThatOfAWholeQuery) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "query", 2, 2);
  const std::string join = "select count(*) from span a, span b where a.rank = b.rank";
  QueryOptions options;
  options.patience = std::chrono::nanoseconds(0);
  const auto honest = query_run(run, join, options);
  EXPECT_TRUE(honest) << honest.error().message;
  options.patience = kNoPatience;
  const auto slow = query_run(run, join, options);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message, HasSubstr("takes longer"));
}

TEST(ReadingTime, IsThatOfAllChunks) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "chunks", 1, 3);
  const auto read = [&](std::chrono::nanoseconds patience) -> base::Result<void> {
    const auto idle = std::make_shared<IdleConnections>(1);
    TRY_ASSIGN(const auto file, ChunkFile::open(rank_file(run, 0), idle, patience));
    TRY_ASSIGN(const auto news, file->tail());
    EXPECT_FALSE(news.chunks.empty());
    for (int round = 0; round < 100; ++round) {
      for (const ChunkEntry& chunk : news.chunks) {
        TRY(file->read(chunk.row_id, [](auto) -> base::Result<void> { return {}; }));
      }
    }
    return {};
  };
  EXPECT_TRUE(read(std::chrono::nanoseconds(0)));
  const auto slow = read(kNoPatience);
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().message, HasSubstr("takes longer"));
}

TEST(ReadingTime, DoesNotCountWhileTheProcessIsStopped) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "stopped", 1, 2);
  const pid_t child = fork();
  if (child == 0) {
    auto database = open_with(rank_file(run, 0), "stop", stop_process);
    _exit(database && database->integer("select stop()").value_or(0) == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // that it has no time for
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace shardlens::trace::store
