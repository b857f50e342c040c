#include "trace/store/sqlite.h"

#include <cmath>
#include <limits>

namespace shardlens::trace {

bool is_full_code(int code) {
  return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC ||
         code == SQLITE_IOERR_TRUNCATE || code == SQLITE_IOERR_SHMSIZE;
}

Error foreign_file(const std::string& file) {
  return {ErrorKind::kForeign,
          file +
              " is not a Shardlens trace: name a run's folder or a packed .shardlens file. If it "
              "belongs to a run, its beginning is damaged: move it away to read the other ranks"};
}

Error sqlite_error(sqlite3* connection, int code, const std::string& file,
                   std::string_view action) {
  const std::string reason = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if (is_full_code(code)) {
    return {ErrorKind::kDiskFull, "cannot write " + file + ": " + reason +
                                      "; the disk is full or a file size limit was reached, free "
                                      "some space or choose another folder"};
  }
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
      return {ErrorKind::kDamaged, file + " is damaged (" + reason +
                                       "): fetch it again from where it was recorded, or save what "
                                       "is left with the .recover command of sqlite3"};
    case SQLITE_NOTADB:
      return foreign_file(file);
    default:
      return {ErrorKind::kIo, "cannot " + std::string(action) + " " + file + ": " + reason};
  }
}

void Statement::bind_real(int index, double value) {
  // SQLite has no NaN.
  if (std::isnan(value)) {
    bind_null(index);
  } else {
    sqlite3_bind_double(get(), index, value);
  }
}

void Statement::bind_text(int index, std::string_view value) {
  // A null pointer would bind NULL.
  sqlite3_bind_text64(get(), index, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Statement::bind_blob(int index, std::span<const std::byte> value) {
  sqlite3_bind_blob64(get(), index, value.data(), value.size(), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* connection = sqlite3_db_handle(get());
  const int extended = sqlite3_extended_errcode(connection);
  const bool reads = sqlite3_stmt_readonly(get()) != 0;
  return tl::make_unexpected(
      sqlite_error(connection, extended, *file_, reads ? "read" : "write to"));
}

Result<void> Statement::run() {
  while (true) {
    auto row = step();
    if (!row) {
      reset();
      return tl::make_unexpected(row.error());
    }
    if (!*row) break;
  }
  reset();
  return {};
}

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(get(), column);
}

std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(get(), column));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(get(), column));
  return {data, data ? static_cast<std::size_t>(sqlite3_column_bytes(get(), column)) : 0};
}

Result<Database> Database::open(const std::string& location, int flags, std::string file) {
  Database database;
  database.file_ = std::make_unique<const std::string>(std::move(file));
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(location.c_str(), &connection,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database.connection_.reset(connection);
  if (code != SQLITE_OK) {
    return tl::make_unexpected(sqlite_error(connection, code, database.file(), "open"));
  }
  // Transactions of the other side last milliseconds.
  sqlite3_busy_timeout(connection, 2000);
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::make_unexpected(sqlite_error(get(), sqlite3_extended_errcode(get()), file(), "use"));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  statement.file_ = file_.get();
  if (code != SQLITE_OK) return tl::make_unexpected(sqlite_error(get(), code, file(), "read"));
  return statement;
}

Result<std::int64_t> Database::integer(std::string_view sql, std::int64_t fallback) {
  TRY_ASSIGN(auto statement, prepare(sql));
  TRY_ASSIGN(const bool row, statement.step());
  return row && !statement.is_null(0) ? statement.integer(0) : fallback;
}

}  // namespace shardlens::trace
