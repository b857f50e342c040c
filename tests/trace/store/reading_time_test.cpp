#include "trace/store/reading_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/trace/store/processor_time.h"
#include "tests/trace/store/store_fixture.h"
#include "trace/store/run_folder.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {
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

Result<Database> open_with(const fs::path& file, const char* name,
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
  Result<bool> row = true;
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
    Result<std::int64_t> value = 0;
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
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace shardlens::trace
