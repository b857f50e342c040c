#include "trace/store/sql/query.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/store/run/run_files.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sql/extensions.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// Where it stands by itself in `text`, `from` there on; npos: nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const auto after = at + word.size();
    const bool begins = at == 0 || !is_part(text[at - 1]);
    if (begins && (after == text.size() || !is_part(text[after]))) return at;
  }
  return text.npos;
}

// What there is instead of what was asked for: the columns of the tables in the query, else the
// tables.
std::string what_there_is(const std::string& reason, const std::string& sql) {
  std::string columns;
  std::vector<std::string> tables;
  for (const QueryTable& table : query_tables()) {
    tables.push_back(table.name);
    if (find_word(sql, table.name) == sql.npos) continue;
    columns += ". Columns of " + table.name + ": " + base::joined(table.columns);
  }
  const bool is_column = reason.find("no such column") != reason.npos && !columns.empty();
  return (is_column ? columns : "") + ". Tables: " + base::joined(tables);
}

tl::unexpected<base::Error> wrong_sql(const std::string& reason, const std::string& sql) {
  return base::fail(base::ErrorKind::kUsage,
                    "the query is not possible: " + reason + what_there_is(reason, sql));
}

// Reading rows and calling functions; nothing that could write, attach or load.
int authorize(void*, int action, const char*, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

constexpr int kSortedInMemoryKib = 64 << 10;

QueryValue value_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return std::string(text ? text : "", text ? size : 0);
    }
    case SQLITE_BLOB:
      return "<" + std::to_string(sqlite3_column_bytes(statement, column)) + " bytes>";
    default:
      return std::monostate();
  }
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using OwnedStatement = std::unique_ptr<sqlite3_stmt, Finalize>;

std::optional<std::size_t> place_of_mistake(sqlite3* connection, std::string_view sql) {
  const int offset = sqlite3_error_offset(connection);
  if (offset >= 0) return static_cast<std::size_t>(offset);
  // Of a table that there is not SQLite tells its name alone, which may stand at several places.
  constexpr std::string_view kNoTable = "no such table: ";
  const std::string reason = message_of(connection);
  if (!reason.starts_with(kNoTable)) return std::nullopt;
  const std::string_view table = std::string_view(reason).substr(kNoTable.size());
  const std::size_t first = find_word(sql, table);
  if (first == sql.npos || find_word(sql, table, first + 1) != sql.npos) return std::nullopt;
  return first;
}

// Statement is not used here: its errors speak of a file, these of the user's SQL.
base::Result<OwnedStatement> prepare(Database& connection, const std::string& sql,
                                     std::optional<std::size_t>* wrong_at) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(connection.get(), sql.c_str(), -1, &raw, &rest);
  OwnedStatement statement(raw);
  if (code == SQLITE_AUTH) return wrong_sql("only reading is possible, with SELECT", sql);
  if (code != SQLITE_OK) {
    if (wrong_at != nullptr) *wrong_at = place_of_mistake(connection.get(), sql);
    return wrong_sql(message_of(connection.get()), sql);
  }
  if (!statement) return wrong_sql("it is empty", sql);
  if (!sqlite3_stmt_readonly(statement.get()) || sqlite3_column_count(statement.get()) == 0) {
    return wrong_sql("only reading is possible, with SELECT", sql);
  }
  const std::string_view tail(rest);
  if (tail.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    sqlite3_stmt* second = nullptr;
    const int second_code = sqlite3_prepare_v2(connection.get(), rest, -1, &second, nullptr);
    const OwnedStatement owned(second);
    // A comment after the query is no statement.
    if (second || second_code != SQLITE_OK) return wrong_sql("it has more than one statement", sql);
  }
  return statement;
}

base::Error step_error(sqlite3* connection, int code, const std::string& sql) {
  switch (code & 0xff) {
    case SQLITE_INTERRUPT:
      return {base::ErrorKind::kFailed, "the query was interrupted"};
    case SQLITE_TOOBIG:
      return {base::ErrorKind::kFailed, "the query made a value of more than " +
                                            std::to_string(Database::kLongestValue >> 20) +
                                            " MiB: ask for less of it"};
    case SQLITE_NOMEM:
      return {base::ErrorKind::kFailed, "the query needs too much memory: ask for less at once"};
    case SQLITE_CORRUPT:
      return {base::ErrorKind::kDamaged, message_of(connection)};
    case SQLITE_IOERR:
      return {base::ErrorKind::kIo, message_of(connection)};
    default:
      return wrong_sql(message_of(connection), sql).value();
  }
}

std::int64_t bytes_of_value(const QueryValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return static_cast<std::int64_t>(sizeof value + (text ? text->size() : 0));
}

base::Error too_large(std::int64_t limit) {
  return {base::ErrorKind::kFailed,
          "the answer has more than " + std::to_string(limit >> 20) +
              " MiB: ask for fewer rows or shorter values, or write it with "
              "`shardlens query … --format csv`, which needs no memory for it"};
}

base::Result<QueryResult> fetch(Database& connection, sqlite3_stmt* statement,
                                const QueryOptions& options) {
  std::int64_t bytes = 0;
  QueryResult result;
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) result.columns.emplace_back(sqlite3_column_name(statement, i));
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return result;
    if (code != SQLITE_ROW)
      return tl::make_unexpected(step_error(connection.get(), code, sqlite3_sql(statement)));
    if (static_cast<std::int64_t>(result.rows.size()) >= options.row_limit) {
      result.truncated = true;
      return result;
    }
    std::vector<QueryValue> row;
    for (int i = 0; i < columns; ++i) row.push_back(value_at(statement, i));
    if (options.take_row) {
      options.take_row(result.columns, row);
      continue;
    }
    for (const QueryValue& value : row) bytes += bytes_of_value(value);
    if (bytes > options.byte_limit) return tl::make_unexpected(too_large(options.byte_limit));
    result.rows.push_back(std::move(row));
  }
}

}  // namespace

std::string to_text(const QueryValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* real = std::get_if<double>(&value)) return base::shortest_text(*real);
  return {};
}

std::vector<QueryTable> query_tables() {
  std::vector<QueryTable> tables;
  const auto add = [&](const TableSchema& schema) {
    QueryTable& table = tables.emplace_back(QueryTable{schema.name, {}});
    for (const Column& column : schema.columns) {
      if (column.name != "row_id") table.columns.push_back(column.name);
    }
  };
  for (const TableSchema& schema : trace_tables()) add(schema);
  for (const EventTable& events : event_tables()) add(schema_of(events));
  return tables;
}

base::Result<QueryResult> query_run(const fs::path& run, const std::string& sql,
                                    const QueryOptions& options) {
  std::vector<std::string> left_out;
  TRY_ASSIGN(auto files, open_run_files(run, &left_out));
  std::vector<Database*> databases = databases_of(files);
  // All that the query reads together: a file made for it could take its time with every row.
  ReadingTime time;
  std::vector<std::unique_ptr<WholeReading>> readings;
  for (Database* const file : databases) {
    readings.push_back(std::make_unique<WholeReading>(*file, time, WholeReading::Bound::kAnswers,
                                                      options.patience));
  }
  EventSource events(databases);
  TRY_ASSIGN(
      Database connection,
      Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, base::quoted(run)));
  TRY(create_row_tables(connection, databases));
  TRY(create_event_tables(connection, events));
  TRY(create_aggregates(connection));
  sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(connection.get(), SQLITE_LIMIT_LENGTH, Database::kLongestValue);
  // What sorting needs more than this is kept in temporary files.
  TRY(connection.execute("pragma cache_size=" + std::to_string(-kSortedInMemoryKib)));
  sqlite3_set_authorizer(connection.get(), authorize, nullptr);
  const StopReading stop([&] { return options.interrupted && options.interrupted(); });
  TRY_ASSIGN(const OwnedStatement statement, prepare(connection, sql, options.wrong_at));
  auto result = fetch(connection, statement.get(), options);
  if (!result) return result;
  result->decoded_chunks = events.decoded_chunks();
  result->left_out = std::move(left_out);
  return result;
}

}  // namespace shardlens::trace::store
