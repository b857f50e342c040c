#include "trace/store/table/schema.h"

#include <algorithm>

#include "trace/base/text.h"

namespace shardlens::trace::store {

namespace {

constexpr const char* kRowId = "INTEGER PRIMARY KEY";
constexpr const char* kInteger = "INTEGER NOT NULL";
constexpr const char* kText = "TEXT NOT NULL";

TableSchema with_row_id(std::string name, const std::vector<Column>& columns) {
  TableSchema table{std::move(name), {{"row_id", kRowId}}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

// The present of a rank: one row, its rank the key.
template <typename Row>
TableSchema one_per_rank() {
  TableSchema table{RowTable<Row>::kName, columns_of_table<Row>()};
  table.columns.front().type = kRowId;
  return table;
}

template <typename Row>
TableSchema many_per_rank() {
  return with_row_id(RowTable<Row>::kName, columns_of_table<Row>());
}

TableSchema batch_table() {
  std::vector<Column> columns{{"rank", kInteger}, {"committed_ns", kInteger}};
  for (auto& name : mark_names()) columns.push_back({std::move(name), kInteger});
  // row_checksums.h: of the rows that change, as they are then; and of all that was added, chained.
  columns.push_back({"present_checksum", kInteger});
  columns.push_back({"checksum", kInteger});
  return with_row_id("batch", columns);
}

TableSchema chunk_table() {
  return with_row_id("chunk", {{"rank", kInteger},
                               {"lane", kInteger},
                               {"kind", kText},
                               {"first_ns", kInteger},
                               {"last_ns", kInteger},
                               {"count", kInteger},
                               {"codec", kInteger},
                               {"checksum", kInteger},
                               {"data", "BLOB NOT NULL"}});
}

std::vector<TableSchema> make_tables() {
  std::vector<TableSchema> tables;
  tables.push_back(with_row_id("meta", {{"rank", kInteger}, {"key", kText}, {"value", kText}}));
  tables.push_back({"setting", {{"key", "TEXT PRIMARY KEY NOT NULL"}, {"value", kText}}});
  tables.push_back(one_per_rank<model::RankInfo>());
  for_each_row_list(
      [&](auto list) { tables.push_back(many_per_rank<decltype(row_type_of(list))>()); });
  tables.push_back(many_per_rank<BucketParameter>());
  tables.push_back(chunk_table());
  tables.push_back(many_per_rank<model::PendingCollective>());
  tables.push_back(one_per_rank<model::Heartbeat>());
  tables.push_back(one_per_rank<model::RecorderCost>());
  tables.push_back(batch_table());
  return tables;
}

}  // namespace

std::string numbered_of(int rank) {
  return "row_id > " + std::to_string(first_row_id(rank)) + " and row_id < " +
         std::to_string(first_row_id(rank + 1));
}

std::vector<std::string> mark_names() {
  std::vector<std::string> names;
  for_each_row_list([&](auto list) {
    names.push_back(std::string("last_") + RowTable<decltype(row_type_of(list))>::kName);
  });
  names.emplace_back("last_bucket_parameter");
  names.emplace_back("last_chunk");
  return names;
}

const std::vector<TableSchema>& trace_tables() {
  // Never destroyed: a recorded program closes its files while it exits.
  static const auto* const tables = new std::vector<TableSchema>(make_tables());
  return *tables;
}

std::string schema_sql() {
  std::string sql = "pragma application_id=" + std::to_string(kApplicationId) +
                    ";pragma user_version=" + std::to_string(kFormat) + ";";
  for (const TableSchema& table : trace_tables()) sql += table_sql(table) + ";";
  return sql;
}

std::string table_sql(const TableSchema& table) {
  std::string sql = "CREATE TABLE " + table.name + "(";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    sql += (i ? ", " : "") + table.columns[i].name + " " + table.columns[i].type;
  }
  return sql + ") strict";
}

std::string column_names(const std::vector<Column>& columns) {
  return base::joined(columns, ",", &Column::name);
}

std::string insert_sql(std::string_view table, bool replace) {
  const auto found = std::ranges::find(trace_tables(), table, &TableSchema::name);
  const auto parameter = [](const Column&) { return std::string_view("?"); };
  return (replace ? "insert or replace into " : "insert into ") + found->name + "(" +
         column_names(found->columns) + ") values(" + base::joined(found->columns, ",", parameter) +
         ")";
}

}  // namespace shardlens::trace::store
