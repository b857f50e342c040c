#include "trace/store/sql/row_module.h"

#include <memory>
#include <string>

#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr const char* kModule = "shardlens_rows";
// Rows that a full scan is taken to cost: unknown, but more than a scan of one rank.
constexpr double kScanCost = 1e6;

using Files = std::vector<Database*>;

struct RowVirtualTable : sqlite3_vtab {
  Files* files = nullptr;
  TableSchema schema;
  int rank_column = -1;
};

struct RowCursor : sqlite3_vtab_cursor {
  RowVirtualTable* table = nullptr;
  std::string sql;
  bool only_rank = false;
  std::int64_t rank = 0;
  std::size_t file = 0;
  Statement statement;
  bool at_end = true;
  std::int64_t row_id = 0;
};

int report(RowVirtualTable& table, const base::Error& error) {
  sqlite3_free(table.zErrMsg);
  table.zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  return error.kind == base::ErrorKind::kDamaged ? SQLITE_CORRUPT : SQLITE_IOERR;
}

const TableSchema* find_table(const std::vector<TableSchema>& tables, std::string_view name) {
  for (const TableSchema& table : tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

// Row ids mean nothing to a user, but `select row_id` may still ask for them.
std::string declaration(const TableSchema& table) {
  std::string sql = "create table x(";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& type = table.columns[i].type;
    const bool hidden = table.columns[i].name == "row_id";
    sql += (i ? ", " : "") + table.columns[i].name + " " + type.substr(0, type.find(' ')) +
           (hidden ? " hidden" : "");
  }
  return sql + ")";
}

int connect(sqlite3* connection, void* files, int count, const char* const* arguments,
            sqlite3_vtab** result, char** message) {
  // Arguments: module, database, name of the table.
  const auto& tables = trace_tables();
  const TableSchema* schema = count >= 3 ? find_table(tables, arguments[2]) : nullptr;
  if (!schema) {
    *message = sqlite3_mprintf("no such table in a trace");
    return SQLITE_ERROR;
  }
  const int code = sqlite3_declare_vtab(connection, declaration(*schema).c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<RowVirtualTable>();
  table->files = static_cast<Files*>(files);
  table->schema = *schema;
  for (std::size_t i = 0; i < schema->columns.size(); ++i) {
    if (schema->columns[i].name == "rank") table->rank_column = static_cast<int>(i);
  }
  *result = table.release();
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<RowVirtualTable*>(table);
  return SQLITE_OK;
}

// Plan: the used columns as a list for SELECT, the others as NULL, so that a query that does not
// name a blob never reads it; and `rank = ?`, which skips the files of other ranks.
int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  auto& table = *static_cast<RowVirtualTable*>(base);
  info->idxNum = 0;
  info->estimatedCost = kScanCost;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    const bool is_rank = constraint.iColumn == table.rank_column && table.rank_column >= 0 &&
                         constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (!constraint.usable || !is_rank || info->idxNum != 0) continue;
    info->aConstraintUsage[i].argvIndex = 1;
    info->idxNum = 1;
    info->estimatedCost = kScanCost / 8;
  }
  std::string columns;
  for (std::size_t i = 0; i < table.schema.columns.size(); ++i) {
    // The last bit stands for all columns from 63 on.
    const std::uint64_t bit = std::uint64_t{1} << std::min<std::size_t>(i, 63);
    const std::string& name = table.schema.columns[i].name;
    // -1 in the file, whose columns are what they always were.
    const std::string value = name == "process_group" ? "nullif(process_group,-1)" : name;
    columns += (i ? "," : "") + (info->colUsed & bit ? value : "null");
  }
  info->idxStr = sqlite3_mprintf("%s", columns.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** result) {
  auto cursor = std::make_unique<RowCursor>();
  cursor->table = static_cast<RowVirtualTable*>(table);
  *result = cursor.release();
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<RowCursor*>(cursor);
  return SQLITE_OK;
}

// Moves on to the next row, in the next file that has one.
int advance(RowCursor& cursor) {
  RowVirtualTable& table = *cursor.table;
  ++cursor.row_id;
  while (true) {
    if (cursor.statement.get()) {
      const auto row = cursor.statement.step();
      if (!row) return report(table, row.error());
      if (*row) return SQLITE_OK;
      cursor.statement = Statement();
      ++cursor.file;
    }
    if (cursor.file >= table.files->size()) {
      cursor.at_end = true;
      return SQLITE_OK;
    }
    auto statement = (*table.files)[cursor.file]->prepare(cursor.sql);
    if (!statement) return report(table, statement.error());
    cursor.statement = std::move(*statement);
    if (cursor.only_rank) cursor.statement.bind(1, cursor.rank);
  }
}

int filter(sqlite3_vtab_cursor* base, int plan, const char* columns, int count,
           sqlite3_value** values) {
  auto& cursor = *static_cast<RowCursor*>(base);
  cursor.only_rank = plan == 1 && count == 1;
  cursor.sql = "select " + std::string(columns) + " from " + cursor.table->schema.name;
  if (cursor.only_rank) {
    cursor.rank = sqlite3_value_int64(values[0]);
    cursor.sql += " where rank=?1";
  }
  cursor.file = 0;
  cursor.row_id = 0;
  cursor.at_end = false;
  cursor.statement = Statement();
  return advance(cursor);
}

int next(sqlite3_vtab_cursor* cursor) { return advance(*static_cast<RowCursor*>(cursor)); }

int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<RowCursor*>(cursor)->at_end ? 1 : 0; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  auto& cursor = *static_cast<RowCursor*>(base);
  sqlite3_result_value(context, sqlite3_column_value(cursor.statement.get(), index));
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* result) {
  *result = static_cast<RowCursor*>(cursor)->row_id;
  return SQLITE_OK;
}

const sqlite3_module& row_module() {
  static const sqlite3_module module = [] {
    sqlite3_module m{};
    m.iVersion = 1;
    m.xCreate = connect;
    m.xConnect = connect;
    m.xBestIndex = best_index;
    m.xDisconnect = disconnect;
    m.xDestroy = disconnect;
    m.xOpen = open_cursor;
    m.xClose = close_cursor;
    m.xFilter = filter;
    m.xNext = next;
    m.xEof = at_end;
    m.xColumn = column;
    m.xRowid = row_id;
    return m;
  }();
  return module;
}

}  // namespace

base::Result<void> create_row_tables(Database& connection, std::vector<Database*>& files) {
  sqlite3_create_module_v2(connection.get(), kModule, &row_module(), &files, nullptr);
  for (const TableSchema& table : trace_tables()) {
    TRY(connection.execute("create virtual table temp." + table.name + " using " + kModule));
  }
  return {};
}

}  // namespace shardlens::trace::store
