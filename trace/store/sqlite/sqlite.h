// SQLite with owners and Result instead of pointers and codes. A Database and its statements belong
// to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "trace/base/result.h"
#include "trace/store/sqlite/reading_time.h"

namespace shardlens::trace::store {

// What SQLite says of its last error, on one line: it repeats what a query or a file's schema
// holds.
std::string message_of(sqlite3* connection);

// Of a file that is no trace, or a damaged one; `file` is the one that the user knows.
base::Error foreign_file(const std::string& file);
base::Error damaged_file(const std::string& file, std::string_view why);
// Decides by SQLite's code what kind of failure it was; `action` completes "cannot …".
base::Error sqlite_error(sqlite3* connection, int code, const std::string& file,
                         std::string_view action);

class RowDigest;

namespace detail {

// What a connection and its statements share.
struct Connection {
  std::string file;  // what messages call it
  sqlite3* handle = nullptr;
  std::int64_t bytes = 0;        // of a file that is not trusted, which bounds rows and work
  std::int64_t looks = 0;        // of the progress handler, since the last row
  std::int64_t questions = 0;    // looks since the thread was asked whether it is to stop
  std::int64_t patience_ns = 0;  // for what is read of such a file, beside what its size needs
  ReadingTime* time = nullptr;   // of the statement that runs
  ReadingTime* whole = nullptr;  // of all statements, in place of each one's
  bool is_allowed_work = false;  // the whole may take longer the more of it is asked for
  enum class End { kNone, kStopped, kEndless, kSlow } end = End::kNone;

  base::Error error(int code, std::string_view action) const;
  // Asks again with the size of now.
  template <typename Holds>
  bool holds(Holds&& is_so);
  bool can_hold(std::int64_t rows, std::int64_t bytes_of_values);
  bool takes_too_long(ReadingTime& time);
  bool takes_too_many(std::int64_t looks_so_far);
  void allow_work(std::int64_t ns);
};

}  // namespace detail

class Statement {
 public:
  Statement() = default;

  // Parameters count from 1, columns from 0. Text and blobs must live until the next reset().
  void bind(int index, std::int64_t value);
  void bind_real(int index, double value);  // NaN becomes NULL
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, std::span<const std::byte> value);
  void bind_null(int index);
  // What `row` has there; until its next step.
  void bind_column(int index, const Statement& row, int column);
  // From now on every row that is inserted, all of its columns bound in order, is told to `digest`
  // as one of `table`, which both outlive this.
  void tell_rows(RowDigest& digest, std::string_view table);

  base::Result<bool> step();  // true: there is a row
  base::Result<void> run();   // steps to the end and resets
  void reset();
  // Calls visit(row) for each that is left. Where that returns a Result, its error is the last.
  template <typename Visit>
  base::Result<void> for_each_row(Visit&& visit) {
    while (true) {
      TRY_ASSIGN(const bool more, step());
      if (!more) return {};
      if constexpr (std::is_void_v<decltype(visit(std::as_const(*this)))>) {
        visit(std::as_const(*this));
      } else {
        TRY(visit(std::as_const(*this)));
      }
    }
  }

  std::int64_t integer(int column) const { return sqlite3_column_int64(get(), column); }
  double real(int column) const;            // NULL becomes NaN
  std::string_view text(int column) const;  // valid until the next step
  std::span<const std::byte> blob(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(get(), column) == SQLITE_NULL; }
  sqlite3_stmt* get() const { return statement_.get(); }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  detail::Connection* connection_ = nullptr;  // the database's
  base::Result<bool> step_distrusting();
  base::Result<bool> failed_step();
  std::int64_t bytes_in_row() const;  // of texts and blobs

  std::int64_t rows_ = 0;
  std::int64_t value_bytes_ = 0;  // in them
  ReadingTime time_;              // that SQLite took for them
  RowDigest* digest_ = nullptr;
  std::uint64_t table_ = 0;
};

// Lent by who keeps it: reset when it is given back.
struct GiveBack {
  void operator()(Statement* statement) const { statement->reset(); }
};
using KeptStatement = std::unique_ptr<Statement, GiveBack>;

class Database {
 public:
  // `location`: a path or file: URI; `file`: what messages call it; `flags`: SQLITE_OPEN_….
  static base::Result<Database> open(const std::string& location, int flags, std::string file);

  base::Result<void> execute(const std::string& sql);  // one or more statements without results
  base::Result<Statement> prepare(std::string_view sql);
  // The same for what is asked again and again: it is prepared once and kept, some KB each, until
  // they are dropped. Of one text one at a time, and none longer than this.
  base::Result<KeptStatement> prepare_once(const std::string& sql);
  void drop_statements() { kept_.clear(); }
  // The first column of the first row; `fallback` if there is none.
  base::Result<std::int64_t> integer(std::string_view sql, std::int64_t fallback = 0);
  base::Result<std::string> text(std::string_view sql);  // likewise; "" if there is none
  // As Statement's, of all rows that `sql` selects.
  template <typename Visit>
  base::Result<void> for_each_row(std::string_view sql, Visit&& visit) {
    TRY_ASSIGN(Statement statement, prepare(sql));
    return statement.for_each_row(visit);
  }

  base::Result<void> check(int code);  // what a call of SQLite's own returned
  sqlite3* get() const { return handle_.get(); }
  const std::string& file() const { return connection_->file; }

  // Of a file that anybody may have made: nothing in it is executed, no value is longer than
  // kLongestValue, and what is read ends, since a file of its size cannot hold more, nor take
  // SQLite longer to read: `patience` beside what its size needs, for each statement or for a
  // WholeReading.
  base::Result<void> distrust(std::chrono::nanoseconds patience = kPatience);
  static constexpr std::chrono::seconds kPatience{10};
  static constexpr int kLongestValue = 64 << 20;

 private:
  friend class WholeReading;
  struct Close {
    // Statements may outlive the connection by a moment.
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<detail::Connection> connection_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<std::string, Statement> kept_;  // by text
};

// While it lives, all statements add to `time` and share what reading may take.
class WholeReading {
 public:
  // What bounds it: the file's size, for who reads it once and then ends, or begins with another
  // time; or, where somebody asks for the same again and again, each answer's size, too. That may
  // have a patience of its own, and several files one time.
  enum class Bound { kFile, kAnswers };
  WholeReading(Database& database, ReadingTime& time, Bound bound = Bound::kFile,
               std::optional<std::chrono::nanoseconds> patience = {});
  ~WholeReading();
  WholeReading(const WholeReading&) = delete;
  WholeReading& operator=(const WholeReading&) = delete;

 private:
  detail::Connection& connection_;
  ReadingTime* const outer_;
  const bool outer_is_allowed_work_;
  const std::int64_t outer_patience_ns_;
};

// What is read while it lives comes from one commit of the writer.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database) : database_(database) {}
  ~ReadTransaction() { static_cast<void>(database_.execute("commit")); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  base::Result<void> begin() { return database_.execute("begin"); }

 private:
  Database& database_;
};

// SQLite would keep two megabytes of pages, for every rank of a run.
inline constexpr const char* kReadOnce = "pragma cache_size=-128";

// Until it is read from again: a connection keeps 90 to 220 KB of pages, and a run of a thousand
// ranks has three thousand of them.
inline void forget_pages(Database& database) { sqlite3_db_release_memory(database.get()); }

}  // namespace shardlens::trace::store
