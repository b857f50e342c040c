#include "trace/store/schema_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "trace/store/schema.h"

namespace shardlens::trace {

namespace {

// What SQLite makes for the key of table `setting`.
constexpr std::string_view kSettingIndex = "sqlite_autoindex_setting_1";

const std::vector<TableSchema>& our_tables() {
  // Never destroyed: a recorded program closes its files while it exits.
  static const auto* const tables = new std::vector<TableSchema>(trace_tables());
  return *tables;
}

tl::unexpected<Error> not_ours(const Database& database, const std::string& what) {
  return fail(ErrorKind::kDamaged, database.file() +
                                       " is damaged or was made by another program (" + what +
                                       "): nothing of it is read; fetch it again from where it was "
                                       "recorded");
}

bool is_column(std::string_view text, const Column& column) {
  // Format 2 kept the names of units as numbers.
  return text == column.name + " " + column.type || text == column.name + " INTEGER NOT NULL";
}

// Our tables' columns, as "name type, name type", of which an older version has some.
bool is_part_of(std::string_view columns, const TableSchema& table) {
  constexpr std::string_view kBetween = ", ";
  auto known = table.columns.begin();
  while (true) {
    const std::string_view column = columns.substr(0, columns.find(kBetween));
    known = std::find_if(known, table.columns.end(),
                         [&](const Column& each) { return is_column(column, each); });
    if (known == table.columns.end()) return false;
    if (column.size() == columns.size()) return true;
    columns.remove_prefix(column.size() + kBetween.size());
  }
}

bool is_as_we_make_it(std::string_view sql, const TableSchema& table, bool is_older) {
  if (sql == table_sql(table)) return true;
  const std::string begin = "CREATE TABLE " + table.name + "(";
  constexpr std::string_view kEnd = ") strict";
  if (!is_older || !sql.starts_with(begin) || !sql.ends_with(kEnd)) return false;
  sql.remove_prefix(begin.size());
  sql.remove_suffix(std::min(kEnd.size(), sql.size()));
  return is_part_of(sql, table);
}

}  // namespace

Result<void> check_schema(Database& database) {
  TRY_ASSIGN(const std::int64_t version, database.integer("pragma user_version"));
  const bool is_older = version < kSchemaVersion;
  TRY_ASSIGN(auto statement,
             database.prepare("select type, name, sql, tbl_name from sqlite_schema"));
  std::set<std::string_view> found;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) break;
    const std::string type(statement.text(0)), name(statement.text(1).substr(0, 60));
    const bool is_key = type == "index" && name == kSettingIndex && statement.is_null(2) &&
                        statement.text(3) == "setting";
    if (is_key) continue;
    const auto table = std::ranges::find(our_tables(), name, &TableSchema::name);
    const bool is_known = type == "table" && table != our_tables().end();
    if (!is_known)
      return not_ours(database, "it has the " + type.substr(0, 20) + " '" + name + "'");
    if (!is_as_we_make_it(statement.text(2), *table, is_older)) {
      return not_ours(database, "its table '" + name + "' is not as Shardlens makes it");
    }
    found.insert(table->name);
  }
  if (found.empty()) return not_ours(database, "it holds no tables");
  for (const TableSchema& table : our_tables()) {
    if (is_older || found.contains(table.name)) continue;
    return not_ours(database, "it lacks the table '" + table.name + "'");
  }
  return {};
}

}  // namespace shardlens::trace
