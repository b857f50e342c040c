#include "trace/store/run/library_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/saturated.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

constexpr int kPatienceMs = 5000;  // with another program that gives numbers

struct LibraryTable {
  std::string_view name, columns;
};
constexpr std::array<LibraryTable, 2> kTables{
    {{"run_number", R"((
  number integer primary key autoincrement, file_name text not null, start_ns integer not null,
  unique(file_name, start_ns)))"},
     {"remembered", "(key text primary key, value text not null)"}}};
// SQLite's own, for numbers that are never given twice.
constexpr std::string_view kSequence = "sqlite_sequence";

bool is_ours(std::string_view type, std::string_view name, std::string_view sql) {
  if (type == "index") return sql.empty();  // of a key
  if (type != "table") return false;
  if (name == kSequence) return true;
  const auto table = std::ranges::find(kTables, name, &LibraryTable::name);
  return table != kTables.end() &&
         sql == "CREATE TABLE " + std::string(name) + std::string(table->columns);
}

// Libraries are copied and unpacked, too: nothing in the file is executed.
base::Result<void> check_tables(Database& database) {
  return database.for_each_row(
      "select type, name, sql from sqlite_schema", [&](const Statement& row) -> base::Result<void> {
        if (is_ours(row.text(0), row.text(1), row.text(2))) return {};
        return base::fail(base::ErrorKind::kDamaged,
                          database.file() +
                              " is damaged or was made by another program: delete it, and runs get "
                              "new numbers");
      });
}

base::Result<Database> open_library(const fs::path& runs_dir) {
  const fs::path file = runs_dir / kLibraryFile;
  TRY(check_left_behind(file));
  TRY_ASSIGN(auto database,
             Database::open(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                            base::quoted(file)));
  sqlite3_busy_timeout(database.get(), kPatienceMs);
  TRY(database.distrust());
  TRY(check_tables(database));
  for (const LibraryTable& table : kTables) {
    TRY(database.execute("create table if not exists " + std::string(table.name) +
                         std::string(table.columns)));
  }
  return database;
}

bool has_library(const fs::path& runs_dir) {
  std::error_code error;
  return fs::exists(runs_dir / kLibraryFile, error);
}

base::Result<std::vector<std::int64_t>> known_numbers(Database& database,
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

base::Result<void> give_numbers(Database& database, std::span<const RunPlace> places,
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

base::Result<RunNumbers> number_runs(const fs::path& runs_dir,
                                     std::span<const RunPlace> oldest_first) {
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
             database.integer("select max(coalesce((select max(cast(seq as integer)) from "
                              "sqlite_sequence where name='run_number'), 0), (select "
                              "coalesce(max(number), 0) from run_number))"));
  result.next = base::saturated_add(last, 1);
  return result;
}

base::Result<std::string> pinned_baseline(const fs::path& runs_dir) {
  if (!has_library(runs_dir)) return std::string();
  TRY_ASSIGN(auto database, open_library(runs_dir));
  return database.text("select value from remembered where key='pinned_baseline'");
}

base::Result<void> pin_baseline(const fs::path& runs_dir, const std::string& file_name) {
  TRY_ASSIGN(auto database, open_library(runs_dir));
  TRY_ASSIGN(auto statement, database.prepare("insert or replace into remembered(key,value) "
                                              "values('pinned_baseline',?1)"));
  statement.bind_text(1, file_name);
  return statement.run();
}

}  // namespace shardlens::trace::store
