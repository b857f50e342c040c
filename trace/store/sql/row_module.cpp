#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "trace/base/text.h"
#include "trace/store/sql/extensions.h"
#include "trace/store/sql/virtual_table.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr const char* kModule = "shardlens_rows";
// Rows that a full scan is taken to cost: unknown, but more than a scan of one rank.
constexpr double kScanCost = 1e6;

using Files = std::vector<Database*>;

class RowCursor;

struct RowVirtualTable {
  using Cursor = RowCursor;
  Files* files;
  TableSchema schema;

  static std::optional<RowVirtualTable> connect(void* files, std::string_view name) {
    const auto& tables = trace_tables();
    const auto found = std::ranges::find(tables, name, &TableSchema::name);
    if (found == tables.end()) return std::nullopt;
    return RowVirtualTable{static_cast<Files*>(files), *found};
  }
  // Row ids mean nothing to a user, but `select row_id` may still ask for them.
  std::string declaration() const {
    const auto column_text = [](const Column& column) {
      return column.name + " " + column.type.substr(0, column.type.find(' ')) +
             (column.name == "row_id" ? " hidden" : "");
    };
    return "create table x(" + base::joined(schema.columns, ", ", column_text) + ")";
  }
  int choose_plan(sqlite3_index_info& info) const;
};

// Plan: the used columns as a list for SELECT, the others as NULL, so that a query that does not
// name a blob never reads it; and `rank = ?`, which skips the files of other ranks.
int RowVirtualTable::choose_plan(sqlite3_index_info& info) const {
  info.idxNum = 0;
  info.estimatedCost = kScanCost;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    const bool is_rank =
        constraint.iColumn >= 0 && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
        schema.columns[static_cast<std::size_t>(constraint.iColumn)].name == "rank";
    if (!constraint.usable || !is_rank || info.idxNum != 0) continue;
    info.aConstraintUsage[i].argvIndex = 1;
    info.idxNum = 1;
    info.estimatedCost = kScanCost / 8;
  }
  std::string columns;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    // The last bit stands for all columns from 63 on.
    const std::uint64_t bit = std::uint64_t{1} << std::min<std::size_t>(i, 63);
    const std::string& name = schema.columns[i].name;
    // -1 in the file, whose columns are what they always were.
    const std::string value = name == "process_group" ? "nullif(process_group,-1)" : name;
    columns += (i ? "," : "") + (info.colUsed & bit ? value : "null");
  }
  info.idxStr = sqlite3_mprintf("%s", columns.c_str());
  info.needToFreeIdxStr = 1;
  return info.idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

class RowCursor {
 public:
  explicit RowCursor(const RowVirtualTable& table) : table_(table) {}

  base::Result<void> start(int plan, const char* columns, std::span<sqlite3_value*> values) {
    only_rank_ = plan == 1 && values.size() == 1;
    sql_ = "select " + std::string(columns) + " from " + table_.schema.name;
    if (only_rank_) {
      rank_ = sqlite3_value_int64(values[0]);
      sql_ += " where rank=?1";
    }
    file_ = 0;
    row_id = 0;
    at_end_ = false;
    statement_ = Statement();
    return next();
  }
  // The next row, in the next file that has one.
  base::Result<void> next();
  bool at_end() const { return at_end_; }
  void tell(sqlite3_context* context, int index) const {
    sqlite3_result_value(context, sqlite3_column_value(statement_.get(), index));
  }

  sqlite3_int64 row_id = 0;

 private:
  const RowVirtualTable& table_;
  std::string sql_;
  bool only_rank_ = false;
  std::int64_t rank_ = 0;
  std::size_t file_ = 0;
  Statement statement_;
  bool at_end_ = true;
};

base::Result<void> RowCursor::next() {
  ++row_id;
  while (true) {
    if (statement_.get()) {
      TRY_ASSIGN(const bool has_row, statement_.step());
      if (has_row) return {};
      statement_ = Statement();
      ++file_;
    }
    if (file_ >= table_.files->size()) {
      at_end_ = true;
      return {};
    }
    TRY_ASSIGN(statement_, (*table_.files)[file_]->prepare(sql_));
    if (only_rank_) statement_.bind(1, rank_);
  }
}

}  // namespace

base::Result<void> create_row_tables(Database& connection, std::vector<Database*>& files) {
  static const sqlite3_module kTables = [] {
    sqlite3_module module = read_only_module<RowVirtualTable>();
    module.xCreate = module.xConnect;
    module.xDestroy = module.xDisconnect;
    return module;
  }();
  sqlite3_create_module_v2(connection.get(), kModule, &kTables, &files, nullptr);
  for (const TableSchema& table : trace_tables()) {
    TRY(connection.execute("create virtual table temp." + table.name + " using " + kModule));
  }
  return {};
}

}  // namespace shardlens::trace::store
