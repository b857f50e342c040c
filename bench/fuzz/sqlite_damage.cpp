#include "bench/fuzz/sqlite_damage.h"

#include <sqlite3.h>

#include <array>
#include <memory>
#include <vector>

namespace shardlens::bench {

namespace {

// "{t}" stands for a table, "{n}" for a number.
constexpr std::array<std::string_view, 14> kSchemaDamage{
    // Views in place of a table: one that never ends, one of many bytes, one more.
    "drop table {t}; create view {t} as with recursive n(i) as (select 1 union all select i+1 from "
    "n) select max(i) as row_id, 0 as rank from n",
    "drop table {t}; create view {t} as select zeroblob(900000000) as value, 0 as rank",
    "create view more as select 1",
    // What a recording does not have.
    "create trigger t after insert on {t} begin select 1; end",
    "create virtual table words using fts5(text)", "create index i on {t}(1)",
    "create table other(a)", "alter table {t} add column more INTEGER",
    // A table that is missing, or not as it should be.
    "drop table {t}", "drop table {t}; create table {t}(row_id INTEGER PRIMARY KEY, rank TEXT)",
    "create table copy as select * from {t}; drop table {t}; alter table copy rename to {t}",
    // What SQLite itself believes.
    "pragma writable_schema=on; update sqlite_schema set rootpage=rootpage+1 where name='{t}'",
    "pragma writable_schema=on; update sqlite_schema set sql=replace(sql,'INTEGER','BLOB')",
    "pragma user_version={n}"};

constexpr const char* kLenient =
    "pragma writable_schema=on; update sqlite_schema set sql=replace(replace(sql,') strict',')'),"
    "' NOT NULL','') where type='table'; pragma writable_schema=reset";

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& file) {
    sqlite3* raw = nullptr;
    sqlite3_open(file.c_str(), &raw);
    handle_.reset(raw);
    sqlite3_exec(raw, "pragma synchronous=off; pragma journal_mode=off", nullptr, nullptr, nullptr);
  }
  void execute(const std::string& sql) {
    sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  }
  // The first column of all rows.
  std::vector<std::string> column(const std::string& sql) {
    std::vector<std::string> values;
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr);
    while (raw && sqlite3_step(raw) == SQLITE_ROW) {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(raw, 0));
      const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(raw, 0));
      values.emplace_back(text ? text : "", text ? bytes : 0);
    }
    sqlite3_finalize(raw);
    return values;
  }
  std::string value(const std::string& sql) {
    const auto values = column(sql);
    return values.empty() ? "" : values.front();
  }
  void run(const std::string& sql, const std::string& blob) {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr);
    sqlite3_bind_blob64(raw, 1, blob.data(), blob.size(), SQLITE_STATIC);
    sqlite3_step(raw);
    sqlite3_finalize(raw);
  }
  std::vector<std::string> tables() {
    return column("select name from sqlite_schema where type='table' order by name");
  }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// A value as SQL.
std::string sql_value(Mutation& mutation) {
  switch (mutation.below(6)) {
    case 0:
      return "null";
    case 1:
      return mutation.pick(std::array<const char*, 5>{"1e308", "-1e308", "9e999", "0.1", "-0.0"});
    case 2:
      return "x'00ff8041'";
    case 3: {
      std::string text = "'";
      for (const char c : mutation.text()) {
        if (c != '\0') text += c == '\'' ? "''" : std::string(1, c);
      }
      return text + "'";
    }
    default:
      return std::to_string(mutation.integer());
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// All of a table as one text, to see whether it changed. A checksum may have any number.
std::string rows_of(OpenFile& file, const std::string& table,
                    const std::vector<std::string>& columns) {
  std::string sql = table == "meta" ? "select iif(key='checksum',0,rowid)" : "select rowid";
  for (const auto& column : columns) {
    if (column != "row_id") sql += "||','||quote(" + column + ")";
  }
  std::string all;
  for (const auto& row : file.column(sql + " from " + table + " order by 1")) all += row + "\n";
  return all;
}

}  // namespace

std::string damage_row(const std::filesystem::path& path, Mutation& mutation) {
  OpenFile file(path);
  std::vector<std::string> tables;
  for (const std::string& table : file.tables()) {
    if (!file.column("select 1 from " + table + " limit 1").empty()) tables.push_back(table);
  }
  if (tables.empty()) return {};
  const std::string table = mutation.pick(tables);
  const auto columns = file.column("select name from pragma_table_info('" + table + "')");
  const auto rows = file.column("select rowid from " + table + " order by rowid");
  const std::string row = mutation.pick(rows), column = mutation.pick(columns);
  const std::string before = rows_of(file, table, columns);
  const auto schema = file.column("select sql from sqlite_schema where type='table' order by name");
  const bool is_lenient = mutation.one_in(2);
  if (is_lenient) file.execute(kLenient);
  std::string sql;
  switch (mutation.below(4)) {
    case 0:
      sql = "delete from " + table + " where rowid=" + row;
      break;
    case 1: {
      std::string names, values;
      for (const std::string& each : columns) {
        names += (names.empty() ? "" : ",") + each;
        const bool is_key = each == columns.front();
        values +=
            (values.empty() ? "" : ",") + (is_key || each == column ? sql_value(mutation) : each);
      }
      sql = "insert into " + table + "(" + names + ") select " + values + " from " + table +
            " where rowid=" + row;
      break;
    }
    default:
      sql =
          "update " + table + " set " + column + "=" + sql_value(mutation) + " where rowid=" + row;
  }
  file.execute(sql);
  if (is_lenient) {
    file.execute("pragma writable_schema=on");
    const auto names = file.tables();
    for (std::size_t i = 0; i < names.size() && i < schema.size(); ++i) {
      file.run("update sqlite_schema set sql=cast(?1 as text) where name='" + names[i] + "'",
               schema[i]);
    }
    file.execute("pragma writable_schema=reset");
  }
  if (rows_of(file, table, columns) == before) return {};
  return sql.substr(0, 200);
}

void damage_schema(const std::filesystem::path& path, Mutation& mutation) {
  OpenFile file(path);
  const auto tables = file.tables();
  if (tables.empty()) return;
  const std::string table = mutation.pick(tables);
  const std::string sql = replaced(std::string(mutation.pick(kSchemaDamage)), "{t}", table);
  file.execute(replaced(sql, "{n}", std::to_string(mutation.below(10))));
}

BlobRow blob_of_row(const std::filesystem::path& path, const std::string& table,
                    Mutation& mutation) {
  OpenFile file(path);
  const auto rows = file.column("select rowid from " + table + " order by rowid");
  if (rows.empty()) return {};
  const std::string row = mutation.pick(rows);
  return {std::stoll(row), file.value("select data from " + table + " where rowid=" + row)};
}

void write_blob(const std::filesystem::path& path, const std::string& table, const BlobRow& row) {
  OpenFile file(path);
  file.run("update " + table + " set data=?1 where rowid=" + std::to_string(row.row_id), row.data);
}

}  // namespace shardlens::bench
