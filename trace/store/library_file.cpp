#include "trace/store/library_file.h"

#include <algorithm>

#include "trace/store/file_system.h"
#include "trace/store/sqlite.h"

namespace shardlens::trace {

namespace fs = std::filesystem;

namespace {

constexpr int kPatienceMs = 5000;  // with another program that gives numbers

constexpr const char* kTables = R"(
create table if not exists run_number(
  number integer primary key autoincrement, file_name text not null, start_ns integer not null,
  unique(file_name, start_ns));
create table if not exists remembered(key text primary key, value text not null);
)";

Result<Database> open_library(const fs::path& runs_dir) {
  const fs::path file = runs_dir / kLibraryFile;
  TRY_ASSIGN(
      auto database,
      Database::open(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, quoted(file)));
  sqlite3_busy_timeout(database.get(), kPatienceMs);
  TRY(database.execute(kTables));
  return database;
}

bool has_library(const fs::path& runs_dir) {
  std::error_code error;
  return fs::exists(runs_dir / kLibraryFile, error);
}

Result<std::vector<std::int64_t>> known_numbers(Database& database,
                                                std::span<const RunPlace> places) {
  TRY_ASSIGN(auto known,
             database.prepare("select number from run_number where file_name=?1 and start_ns=?2"));
  std::vector<std::int64_t> numbers;
  for (const RunPlace& place : places) {
    known.reset();
    known.bind_text(1, place.file_name);
    known.bind(2, place.start_ns);
    TRY_ASSIGN(const bool found, known.step());
    numbers.push_back(found ? known.integer(0) : 0);
  }
  known.reset();
  return numbers;
}

Result<void> give_numbers(Database& database, std::span<const RunPlace> places,
                          std::span<const std::int64_t> numbers) {
  TRY_ASSIGN(
      auto insert,
      database.prepare("insert or ignore into run_number(file_name,start_ns) values(?1,?2)"));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (numbers[i] != 0) continue;
    insert.bind_text(1, places[i].file_name);
    insert.bind(2, places[i].start_ns);
    TRY(insert.run());
  }
  return {};
}

}  // namespace

Result<RunNumbers> number_runs(const fs::path& runs_dir, std::span<const RunPlace> oldest_first) {
  if (oldest_first.empty() && !has_library(runs_dir)) return RunNumbers{};
  TRY_ASSIGN(auto database, open_library(runs_dir));
  RunNumbers result;
  TRY_ASSIGN(result.numbers, known_numbers(database, oldest_first));
  if (std::ranges::find(result.numbers, 0) != result.numbers.end()) {
    TRY(database.execute("begin immediate"));
    TRY(give_numbers(database, oldest_first, result.numbers));
    TRY(database.execute("commit"));
    TRY_ASSIGN(result.numbers, known_numbers(database, oldest_first));
  }
  // The greatest that was ever given, its run may be gone.
  TRY_ASSIGN(const auto last,
             database.integer("select seq from sqlite_sequence where name='run_number'"));
  result.next = last + 1;
  return result;
}

Result<std::string> pinned_baseline(const fs::path& runs_dir) {
  if (!has_library(runs_dir)) return std::string();
  TRY_ASSIGN(auto database, open_library(runs_dir));
  TRY_ASSIGN(auto statement,
             database.prepare("select value from remembered where key='pinned_baseline'"));
  TRY_ASSIGN(const bool found, statement.step());
  return std::string(found ? statement.text(0) : "");
}

Result<void> pin_baseline(const fs::path& runs_dir, const std::string& file_name) {
  TRY_ASSIGN(auto database, open_library(runs_dir));
  TRY_ASSIGN(auto statement, database.prepare("insert or replace into remembered(key,value) "
                                              "values('pinned_baseline',?1)"));
  statement.bind_text(1, file_name);
  return statement.run();
}

}  // namespace shardlens::trace
