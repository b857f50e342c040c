// The tables of a trace file, and what marks a file as ours. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/store/table/row_io.h"

namespace shardlens::trace::store {

inline constexpr std::int32_t kApplicationId = 0x5368'4c6e;  // "ShLn"
// The one that is written and read; raised by every change of the tables or of what they mean.
inline constexpr std::int32_t kFormat = 10;
// The rank of rows that belong to the whole run.
inline constexpr int kRunRank = -1;

// Row ids of different ranks never meet, so that packing is copying and `batch` stays true.
inline constexpr int kRankShift = 40;
inline std::int64_t first_row_id(int rank) {
  return (static_cast<std::int64_t>(rank) << kRankShift);
}
// "row_id > … and row_id < …": its rows, of the tables that number them.
std::string numbered_of(int rank);

struct TableSchema {
  std::string name;
  std::vector<Column> columns;  // the row id first
};

// All tables, in the order in which they are created and copied. Every file has all of them.
const std::vector<TableSchema>& trace_tables();
// CREATE TABLE … of all tables and the marks of the file.
std::string schema_sql();
// "CREATE TABLE …" as SQLite keeps it for a table.
std::string table_sql(const TableSchema& table);

// INSERT of one row of a table of trace_tables(): "insert into step(row_id,rank,…) values(?,?,…)".
std::string insert_sql(std::string_view table, bool replace = false);
// "rank,step,…"
std::string column_names(const std::vector<Column>& columns);
// The columns of `batch` between its time and its checksums: "last_string", …
std::vector<std::string> mark_names();

}  // namespace shardlens::trace::store
