#include "trace/store/older_formats.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trace/store/schema.h"

namespace shardlens::trace {

namespace {

Result<std::vector<std::string>> columns_in_file(Database& database, const std::string& table) {
  TRY_ASSIGN(auto statement, database.prepare("select name from pragma_table_info(?1, 'main')"));
  statement.bind_text(1, table);
  std::vector<std::string> names;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return names;
    names.emplace_back(statement.text(0));
  }
}

// What a column holds that a file does not have: nothing known.
std::string missing_value(const Column& column) {
  return column.type.starts_with("TEXT") ? "''" : "0";
}

std::string empty_table_sql(const TableSchema& table) {
  return "create temp table " + table.name + "(" + column_names(table.columns) + ")";
}

// "row_id,rank,…,0 from main.batch"
std::string known_columns_sql(const TableSchema& table, const std::vector<std::string>& known) {
  std::string sql;
  for (const Column& column : table.columns) {
    const bool is_known = std::ranges::find(known, column.name) != known.end();
    sql += (sql.empty() ? "" : ",") +
           (is_known ? column.name : missing_value(column) + " as " + column.name);
  }
  return sql + " from main." + table.name;
}

}  // namespace

Result<void> complete_older_format(Database& database) {
  TRY_ASSIGN(const auto version, database.integer("pragma user_version"));
  if (version >= kSchemaVersion) return {};
  // In memory: the folder for temporary files may be full or missing.
  TRY(database.execute("pragma temp_store=memory"));
  for (const TableSchema& table : trace_tables()) {
    TRY_ASSIGN(const auto columns, columns_in_file(database, table.name));
    const bool is_whole = std::ranges::all_of(table.columns, [&](const Column& column) {
      return std::ranges::find(columns, column.name) != columns.end();
    });
    if (is_whole) continue;
    TRY(database.execute(columns.empty() ? empty_table_sql(table)
                                         : "create temp view " + table.name + " as select " +
                                               known_columns_sql(table, columns)));
  }
  return {};
}

}  // namespace shardlens::trace
