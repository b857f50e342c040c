#include "trace/store/upkeep/export_rows.h"

#include <utility>

#include "trace/base/file_system.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"
#include "trace/store/upkeep/export_source.h"
#include "trace/store/upkeep/redaction.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// The tables of this name are the file's own.
constexpr std::string_view kReadPrefix = "recorded_";

// How the file stores things: names are texts in the exported tables, chunks are rows.
bool is_of_storage(const std::string& table) {
  return table == "string" || table == "chunk" || table == "batch";
}

struct ExportTable {
  std::string name;
  std::string create;  // CREATE TABLE
  std::string fill;    // INSERT
};

// `source`: the table that is read. Without the lanes' names, which table `lane` has: they would be
// a tenth of the file.
ExportTable export_table_of(const TableSchema& schema, const std::string& source, bool with_paths) {
  std::string definitions, names;
  for (const Column& column : schema.columns) {
    if (column.name == "row_id" || column.name == "lane_name") continue;
    const char* const comma = names.empty() ? "" : ", ";
    definitions += comma + column.name + " " + column.type.substr(0, column.type.find(' '));
    names += comma + (with_paths ? column.name : redacted_column(schema.name, column));
  }
  return {schema.name, "create table main." + schema.name + "(" + definitions + ")",
          "insert into main." + schema.name + " select " + names + " from " + source};
}

std::vector<ExportTable> exported_tables(bool with_paths) {
  std::vector<ExportTable> tables;
  for (const TableSchema& schema : trace_tables()) {
    if (is_of_storage(schema.name)) continue;
    tables.push_back(export_table_of(schema, "temp." + schema.name, with_paths));
  }
  for (const EventTable& table : event_tables()) {
    const std::string source = std::string(kReadPrefix) + table.name;
    tables.push_back(export_table_of(schema_of(table), source, with_paths));
  }
  return tables;
}

base::Result<std::int64_t> fill_table(Database& target, const ExportTable& table,
                                      const ExportSource& source) {
  TRY(target.execute(table.create));
  const int code = sqlite3_exec(target.get(), table.fill.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return std::int64_t{sqlite3_changes64(target.get())};
  if (source.was_stopped())
    return base::fail(base::ErrorKind::kFailed, "the export was stopped; nothing was written");
  // Only what is read can be damaged, and that says so itself.
  if ((code & 0xff) == SQLITE_CORRUPT) {
    return base::fail(base::ErrorKind::kDamaged, message_of(target.get()));
  }
  return tl::make_unexpected(
      sqlite_error(target.get(), sqlite3_extended_errcode(target.get()), target.file(), "write"));
}

base::Result<void> fill_tables(Database& target, bool with_paths, ExportSource& source,
                               ExportedRows& exported) {
  TRY(source.attach(target, kReadPrefix));
  const StopReading stop([&] { return !source.goes_on(); });
  for (const ExportTable& table : exported_tables(with_paths)) {
    TRY_ASSIGN(const std::int64_t rows, fill_table(target, table, source));
    exported.tables.emplace_back(table.name, rows);
  }
  return {};
}

}  // namespace

base::Result<ExportedRows> export_rows(const fs::path& run, const fs::path& output,
                                       const ExportOptions& options) {
  TRY_ASSIGN(auto files, open_run_files(run));
  TRY(base::check_output(output, options.overwrite, "run.sqlite"));
  ExportSource source(std::move(files), options.progress);
  ExportedRows exported;
  const auto fill = [&](Database& target) -> base::Result<void> {
    TRY(target.execute("pragma journal_mode=off; begin"));
    TRY(fill_tables(target, options.with_paths, source, exported));
    return target.execute("commit");
  };
  TRY(create_database_file(output, fill, options.overwrite));
  return exported;
}

}  // namespace shardlens::trace::store
