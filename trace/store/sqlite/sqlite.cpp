#include "trace/store/sqlite/sqlite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "trace/store/sqlite/row_digest.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::trace::store {

namespace {

// Instructions of SQLite's virtual machine: copying a chunk takes about twenty.
constexpr int kInstructionsPerLook = 500;
// Between two questions whether the thread is to stop: about 100 microseconds.
constexpr std::int64_t kLooksPerQuestion = 20;
// A row takes at least this much of a page, and to pass over one takes far fewer instructions
// than this allows; pages that lead in a circle take more.
constexpr std::int64_t kLeastRowBytes = 4;
constexpr std::int64_t kInstructionsPerByte = 64;
constexpr std::int64_t kInstructionsOfAny = 50'000'000;
// Values may share pages, so that a small file holds far more than its bytes. What leaves out names
// may make a text longer.
constexpr std::int64_t kMostValuesPerByte = 4;
constexpr std::int64_t kValuesOfAny = 1 << 20;
// Nor does it take many rows or instructions then. Rows of a few bytes are read faster than this.
constexpr std::int64_t kNanosecondsPerByte = 250;
// How often a whole reading comes by each byte.
constexpr std::int64_t kMostPasses = 8;
// Generous for a row or the search for one, and for an instruction: a page of each may have to be
// fetched from a slow disk.
constexpr std::int64_t kNanosecondsPerStep = 20'000;
constexpr std::int64_t kNanosecondsPerInstruction = 1'000;

int look_after(void* shared) {
  auto& connection = *static_cast<detail::Connection*>(shared);
  const std::int64_t looks = ++connection.looks;
  connection.allow_work(kInstructionsPerLook * kNanosecondsPerInstruction);
  // Rows follow each other within fewer looks than that.
  const bool asks = ++connection.questions % kLooksPerQuestion == 0;
  if (asks && StopReading::wanted()) {
    connection.end = detail::Connection::End::kStopped;
    return 1;
  }
  const bool is_endless = connection.bytes > 0 && connection.takes_too_many(looks);
  const bool is_slow = connection.time != nullptr && connection.takes_too_long(*connection.time);
  if (is_endless) connection.end = detail::Connection::End::kEndless;
  if (is_slow) connection.end = detail::Connection::End::kSlow;
  return is_endless || is_slow ? 1 : 0;
}

// Of the file and its WAL. Not by a statement: it is asked while another one runs.
std::int64_t bytes_of(sqlite3* connection) {
  std::int64_t bytes = 1;
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection, "main", which, &file);
    sqlite3_int64 size = 0;
    const bool is_open = file != nullptr && file->pMethods != nullptr;
    if (is_open && file->pMethods->xFileSize(file, &size) == SQLITE_OK) bytes += size;
  }
  return bytes;
}

base::Error pages_in_a_circle(const std::string& file) {
  return damaged_file(file, "its pages lead in a circle");
}

base::Error holds_too_much(const std::string& file) {
  return damaged_file(file, "its values take more than its bytes can hold");
}

base::Error reading_takes_too_long(const std::string& file) {
  return {base::ErrorKind::kDamaged,
          "reading " + file +
              " takes longer than a file of its size can: it is damaged, or was "
              "made to do so; fetch it again from where it was recorded"};
}

// Full disks, file size limits and write errors.
bool is_full_code(int code) {
  return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC ||
         code == SQLITE_IOERR_TRUNCATE || code == SQLITE_IOERR_SHMSIZE;
}

}  // namespace

base::Error damaged_file(const std::string& file, std::string_view why) {
  return {base::ErrorKind::kDamaged, file + " is damaged (" + std::string(why) +
                                         "): fetch it again from where it was recorded"};
}

base::Error foreign_file(const std::string& file) {
  return {
      base::ErrorKind::kForeign,
      file +
          " is not a Shardlens trace: name a run's folder or a packed .shardlens file. A trace of "
          "PyTorch's profiler becomes a run by `shardlens import`. If it belongs to a run, its "
          "beginning is damaged: move it away to read the other ranks"};
}

std::string message_of(sqlite3* connection) {
  std::string message = sqlite3_errmsg(connection);
  std::ranges::replace_if(
      message, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return message;
}

base::Error sqlite_error(sqlite3* connection, int code, const std::string& file,
                         std::string_view action) {
  const std::string reason = connection ? message_of(connection) : sqlite3_errstr(code);
  if (is_full_code(code)) {
    return {base::ErrorKind::kDiskFull,
            "cannot write " + file + ": " + reason +
                "; the disk is full or a file size limit was reached, free "
                "some space or choose another folder"};
  }
  switch (code & 0xff) {
    case SQLITE_TOOBIG:
    case SQLITE_CORRUPT:
      return {base::ErrorKind::kDamaged,
              file + " is damaged (" + reason +
                  "): fetch it again from where it was recorded, or save what "
                  "is left with the .recover command of sqlite3"};
    case SQLITE_NOTADB:
      return foreign_file(file);
    default:
      return {base::ErrorKind::kIo, "cannot " + std::string(action) + " " + file + ": " + reason};
  }
}

void Statement::bind_real(int index, double value) {
  // SQLite has no NaN.
  if (std::isnan(value)) {
    bind_null(index);
  } else {
    sqlite3_bind_double(get(), index, value);
    if (digest_) digest_->add_real(value);
  }
}

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(get(), index, value);
  if (digest_) digest_->add_integer(value);
}

void Statement::bind_null(int index) {
  sqlite3_bind_null(get(), index);
  if (digest_) digest_->add_null();
}

void Statement::tell_rows(RowDigest& digest, std::string_view table) {
  digest_ = &digest;
  table_ = RowDigest::number_of(table);
}

void Statement::bind_text(int index, std::string_view value) {
  // A null pointer would bind NULL.
  sqlite3_bind_text64(get(), index, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  if (digest_) digest_->add_text(value);
}

void Statement::bind_blob(int index, std::span<const std::byte> value) {
  sqlite3_bind_blob64(get(), index, value.data(), value.size(), SQLITE_STATIC);
}

void Statement::bind_column(int index, const Statement& row, int column) {
  switch (sqlite3_column_type(row.get(), column)) {
    case SQLITE_INTEGER:
      return bind(index, row.integer(column));
    case SQLITE_FLOAT:
      return bind_real(index, row.real(column));
    case SQLITE_TEXT:
      return bind_text(index, row.text(column));
    case SQLITE_BLOB:
      return bind_blob(index, row.blob(column));
    default:
      return bind_null(index);
  }
}

base::Error detail::Connection::error(int code, std::string_view action) const {
  if ((code & 0xff) == SQLITE_INTERRUPT) {
    if (end == End::kEndless) return pages_in_a_circle(file);
    if (end == End::kSlow) return reading_takes_too_long(file);
    return {base::ErrorKind::kFailed, "reading " + file + " was stopped"};
  }
  return sqlite_error(handle, code, file, action);
}

template <typename Holds>
bool detail::Connection::holds(Holds&& is_so) {
  if (is_so()) return true;
  // Whoever writes it may have made it longer.
  bytes = std::max(bytes, bytes_of(handle));
  return is_so();
}

bool detail::Connection::can_hold(std::int64_t rows, std::int64_t bytes_of_values) {
  return holds([&] {
    return rows <= bytes / kLeastRowBytes &&
           bytes_of_values <= kValuesOfAny + bytes * kMostValuesPerByte;
  });
}

bool detail::Connection::takes_too_long(ReadingTime& of) {
  const std::int64_t passes = whole == nullptr ? 1 : kMostPasses;
  return !holds([&] { return !of.exceeds(patience_ns + passes * bytes * kNanosecondsPerByte); });
}

bool detail::Connection::takes_too_many(std::int64_t looks_so_far) {
  return !holds([&] {
    return looks_so_far <=
           (kInstructionsOfAny + bytes * kInstructionsPerByte) / kInstructionsPerLook;
  });
}

void detail::Connection::allow_work(std::int64_t ns) {
  if (is_allowed_work && time != nullptr) time->allow(ns);
}

std::int64_t Statement::bytes_in_row() const {
  std::int64_t bytes = 0;
  for (int i = sqlite3_data_count(get()) - 1; i >= 0; --i) {
    const int type = sqlite3_column_type(get(), i);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) bytes += sqlite3_column_bytes(get(), i);
  }
  return bytes;
}

void Statement::reset() {
  sqlite3_reset(get());
  rows_ = 0;
  value_bytes_ = 0;
  time_ = {};
}

base::Result<bool> Statement::step() {
  detail::Connection& shared = *connection_;
  shared.looks = 0;
  if (shared.bytes > 0) return step_distrusting();
  const int code = sqlite3_step(get());
  return code == SQLITE_ROW || code == SQLITE_DONE ? code == SQLITE_ROW : failed_step();
}

base::Result<bool> Statement::step_distrusting() {
  detail::Connection& shared = *connection_;
  ReadingTime& time = shared.whole != nullptr ? *shared.whole : time_;
  shared.time = &time;
  time.begin();
  const int code = sqlite3_step(get());
  time.end();
  const std::int64_t bytes = code == SQLITE_ROW ? bytes_in_row() : 0;
  shared.allow_work(kNanosecondsPerStep + bytes * kNanosecondsPerByte);
  shared.time = nullptr;
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) return failed_step();
  value_bytes_ += bytes;
  if (!shared.can_hold(++rows_, 0)) return tl::make_unexpected(pages_in_a_circle(shared.file));
  if (!shared.can_hold(0, value_bytes_)) return tl::make_unexpected(holds_too_much(shared.file));
  if (shared.takes_too_long(time)) return tl::make_unexpected(reading_takes_too_long(shared.file));
  return true;
}

base::Result<bool> Statement::failed_step() {
  const int code = sqlite3_extended_errcode(connection_->handle);
  const bool reads = sqlite3_stmt_readonly(get()) != 0;
  return tl::make_unexpected(connection_->error(code, reads ? "read" : "write to"));
}

base::Result<void> Statement::run() {
  while (true) {
    auto row = step();
    if (!row) {
      reset();
      return tl::make_unexpected(row.error());
    }
    if (!*row) break;
  }
  reset();
  if (digest_) digest_->end_row(table_);
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

base::Result<Database> Database::open(const std::string& location, int flags, std::string file) {
  // Counting its memory would make all threads wait for each other with every piece that SQLite
  // takes or frees.
  [[maybe_unused]] static const int counts_no_memory = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  Database database;
  database.connection_ = std::make_unique<detail::Connection>();
  detail::Connection& shared = *database.connection_;
  shared.file = std::move(file);
  const int code = sqlite3_open_v2(location.c_str(), &shared.handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  database.handle_.reset(shared.handle);
  if (code != SQLITE_OK) {
    return tl::make_unexpected(sqlite_error(shared.handle, code, shared.file, "open"));
  }
  // Transactions of the other side last milliseconds.
  sqlite3_busy_timeout(shared.handle, 2000);
  sqlite3_progress_handler(shared.handle, kInstructionsPerLook, look_after, &shared);
  return database;
}

base::Result<void> Database::distrust(std::chrono::nanoseconds patience) {
  connection_->patience_ns = patience.count();
  // A run of hundreds of ranks has thousands of connections, and 120 KB for small pieces are
  // each's.
  sqlite3_db_config(get(), SQLITE_DBCONFIG_LOOKASIDE, nullptr, 0, 0);
  sqlite3_db_config(get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(get(), SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(get(), SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  connection_->bytes = std::max<std::int64_t>(1, bytes_of(get()));
  return execute("pragma cell_size_check=on");
}

base::Result<void> Database::execute(const std::string& sql) {
  connection_->looks = 0;
  const int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::make_unexpected(connection_->error(sqlite3_extended_errcode(get()), "use"));
}

base::Result<void> Database::check(int code) {
  if (code == SQLITE_OK) return {};
  return tl::make_unexpected(sqlite_error(get(), code, file(), "use"));
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  connection_->looks = 0;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  statement.connection_ = connection_.get();
  if (code != SQLITE_OK) return tl::make_unexpected(connection_->error(code, "read"));
  return statement;
}

base::Result<KeptStatement> Database::prepare_once(const std::string& sql) {
  auto found = kept_.find(sql);
  if (found == kept_.end()) {
    TRY_ASSIGN(auto statement, prepare(sql));
    found = kept_.emplace(sql, std::move(statement)).first;
  }
  connection_->looks = 0;
  return KeptStatement(&found->second);
}

base::Result<std::int64_t> Database::integer(std::string_view sql, std::int64_t fallback) {
  TRY_ASSIGN(auto statement, prepare(sql));
  TRY_ASSIGN(const bool row, statement.step());
  return row && !statement.is_null(0) ? statement.integer(0) : fallback;
}

base::Result<std::string> Database::text(std::string_view sql) {
  TRY_ASSIGN(auto statement, prepare(sql));
  TRY_ASSIGN(const bool row, statement.step());
  return std::string(row ? statement.text(0) : "");
}

WholeReading::WholeReading(Database& database, ReadingTime& time, Bound bound,
                           std::optional<std::chrono::nanoseconds> patience)
    : connection_(*database.connection_),
      outer_(std::exchange(connection_.whole, &time)),
      outer_is_allowed_work_(std::exchange(connection_.is_allowed_work, bound == Bound::kAnswers)),
      outer_patience_ns_(connection_.patience_ns) {
  if (patience) connection_.patience_ns = patience->count();
}

WholeReading::~WholeReading() {
  connection_.whole = outer_;
  connection_.is_allowed_work = outer_is_allowed_work_;
  connection_.patience_ns = outer_patience_ns_;
}

}  // namespace shardlens::trace::store
