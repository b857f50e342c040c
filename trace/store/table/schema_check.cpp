#include "trace/store/table/schema_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

// What SQLite makes for the key of table `setting`.
constexpr std::string_view kSettingIndex = "sqlite_autoindex_setting_1";

tl::unexpected<base::Error> not_ours(const Database& database, const std::string& what) {
  return base::fail(base::ErrorKind::kDamaged,
                    database.file() + " is damaged or was made by another program (" + what +
                        "): nothing of it is read; fetch it again from where it was "
                        "recorded");
}

}  // namespace

base::Result<void> check_schema(Database& database) {
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
    const auto table = std::ranges::find(trace_tables(), name, &TableSchema::name);
    const bool is_known = type == "table" && table != trace_tables().end();
    if (!is_known)
      return not_ours(database, "it has the " + type.substr(0, 20) + " '" + name + "'");
    if (statement.text(2) != table_sql(*table)) {
      return not_ours(database, "its table '" + name + "' is not as Shardlens makes it");
    }
    found.insert(table->name);
  }
  for (const TableSchema& table : trace_tables()) {
    if (found.contains(table.name)) continue;
    return not_ours(database, "it lacks the table '" + table.name + "'");
  }
  return {};
}

}  // namespace shardlens::trace::store
