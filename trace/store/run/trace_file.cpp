#include "trace/store/run/trace_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// https://www.sqlite.org/fileformat.html, section 1.3
constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
using Header = std::array<unsigned char, kHeaderBytes>;
// Section 3: of a journal.
constexpr std::string_view kJournalMagic{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};

std::uint32_t big_endian(const Header& header, std::size_t offset, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | header[offset + static_cast<std::size_t>(i)];
  return value;
}

std::string uri_of(const fs::path& file, const char* options) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file://";  // else what follows two slashes would be a host
  std::error_code ignored;
  for (const char c : fs::absolute(file, ignored).string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) || c == '/' || c == '.' || c == '_' || c == '-';
    if (plain) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri + options;
}

struct FileStart {
  Header header{};
  std::size_t size = 0;  // of the header that is there
};

// Through SQLite's own file: closing one of ours would drop the locks that other connections of
// this process hold on the same file (POSIX).
base::Result<FileStart> read_start(const fs::path& file) {
  const auto cannot = [&] {
    return base::fail(base::ErrorKind::kIo,
                      "cannot open " + base::quoted(file) + ": check its permissions");
  };
  const auto opened = Database::open(uri_of(file, "?mode=ro&immutable=1"),
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, base::quoted(file));
  if (!opened) return cannot();
  sqlite3_file* raw = nullptr;
  sqlite3_file_control(opened->get(), "main", SQLITE_FCNTL_FILE_POINTER, &raw);
  if (!raw || !raw->pMethods) return cannot();
  FileStart start;
  start.size = std::min(static_cast<std::size_t>(base::file_size_or_zero(file)), kHeaderBytes);
  const int got = raw->pMethods->xRead(raw, start.header.data(), static_cast<int>(kHeaderBytes), 0);
  if (got != SQLITE_OK && got != SQLITE_IOERR_SHORT_READ) return cannot();
  return start;
}

base::Result<Header> read_header(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return base::fail(base::ErrorKind::kMissing,
                      base::quoted(file) + " does not exist: check the name");
  }
  if (!fs::is_regular_file(file, error)) {
    return base::fail(base::ErrorKind::kForeign,
                      base::quoted(file) + " is not a file: a trace was expected");
  }
  TRY(check_left_behind(file));
  TRY_ASSIGN(const FileStart start, read_start(file));
  if (start.size == 0) {
    return base::fail(base::ErrorKind::kDamaged, base::quoted(file) +
                                                     " is empty: fetch it again from where it was "
                                                     "recorded, or record the run again");
  }
  const std::string_view magic(reinterpret_cast<const char*>(start.header.data()),
                               std::min(start.size, kMagic.size()));
  if (magic != kMagic.substr(0, magic.size())) {
    return tl::make_unexpected(foreign_file(base::quoted(file)));
  }
  if (start.size < kHeaderBytes) {
    return base::fail(base::ErrorKind::kDamaged, base::quoted(file) +
                                                     " is truncated: fetch it again from where it "
                                                     "was recorded");
  }
  return start.header;
}

base::Result<void> check_marks(const fs::path& file, const Header& header) {
  if (big_endian(header, 68, 4) != static_cast<std::uint32_t>(kApplicationId)) {
    return base::fail(base::ErrorKind::kForeign,
                      base::quoted(file) +
                          " is an SQLite file of another program, not a Shardlens trace: name "
                          "a run's folder or a packed .shardlens file");
  }
  const std::uint32_t version = big_endian(header, 60, 4);
  if (version == static_cast<std::uint32_t>(kFormat)) return {};
  const bool is_newer = version > static_cast<std::uint32_t>(kFormat);
  const std::string age = is_newer ? "a newer" : "an older";
  const std::string what_to_do =
      is_newer ? "update Shardlens" : "record the run again, or read it with the version of then";
  return base::fail(base::ErrorKind::kOtherVersion,
                    base::quoted(file) + " was written by " + age +
                        " version of Shardlens (format " + std::to_string(version) +
                        ", this one reads format " + std::to_string(kFormat) + "): " + what_to_do);
}

bool has_content(const fs::path& file) { return base::file_size_or_zero(file) > 0; }

// With no WAL the header knows the size. (With one, a checkpoint may have been cut.)
base::Result<void> check_size(const fs::path& file, const Header& header) {
  if (has_content(base::beside(file, "-wal")) || has_content(base::beside(file, "-journal")))
    return {};
  const bool size_is_valid = big_endian(header, 24, 4) == big_endian(header, 92, 4);
  std::int64_t page = big_endian(header, 16, 2);
  if (page == 1) page = 65536;
  const std::int64_t expected = page * big_endian(header, 28, 4);
  const std::int64_t size = base::file_size_or_zero(file);
  if (!size_is_valid || size >= expected) return {};
  return base::fail(base::ErrorKind::kDamaged,
                    base::quoted(file) + " is truncated (" + std::to_string(size) + " of " +
                        std::to_string(expected) +
                        " bytes): fetch it again from where it was recorded");
}

// What SQLite makes for the key of table `setting`.
constexpr std::string_view kSettingIndex = "sqlite_autoindex_setting_1";

tl::unexpected<base::Error> not_ours(const Database& database, const std::string& what) {
  return base::fail(base::ErrorKind::kDamaged,
                    database.file() + " is damaged or was made by another program (" + what +
                        "): nothing of it is read; fetch it again from where it was "
                        "recorded");
}

// All tables are ours, with all their columns, as we make them, and there is nothing else: whatever
// else a file declares would run when it is read.
base::Result<void> check_schema(Database& database) {
  std::set<std::string_view> found;
  const auto check = [&](const Statement& row) -> base::Result<void> {
    const std::string type(row.text(0)), name(row.text(1).substr(0, 60));
    const bool is_key =
        type == "index" && name == kSettingIndex && row.is_null(2) && row.text(3) == "setting";
    if (is_key) return {};
    const auto table = std::ranges::find(trace_tables(), name, &TableSchema::name);
    const bool is_known = type == "table" && table != trace_tables().end();
    if (!is_known)
      return not_ours(database, "it has the " + type.substr(0, 20) + " '" + name + "'");
    if (row.text(2) != table_sql(*table)) {
      return not_ours(database, "its table '" + name + "' is not as Shardlens makes it");
    }
    found.insert(table->name);
    return {};
  };
  TRY(database.for_each_row("select type, name, sql, tbl_name from sqlite_schema", check));
  for (const TableSchema& table : trace_tables()) {
    if (found.contains(table.name)) continue;
    return not_ours(database, "it lacks the table '" + table.name + "'");
  }
  return {};
}

// Before anything of the file is used: whether it is one that we could have made.
// The location says whether it may be written to, as a recovered copy has to be.
base::Result<Database> open_at(const std::string& uri, const fs::path& file) {
  TRY_ASSIGN(Database database,
             Database::open(uri, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, base::quoted(file)));
  TRY(database.distrust());
  TRY(check_schema(database));
  return database;
}

// As after a change to several databases at once, which none of ours is. It stands behind the name
// of a file, wherever that lies, which SQLite deletes when it has played back the journal.
bool ends_with_magic(const fs::path& journal) {
  std::ifstream stream(journal, std::ios::binary);
  std::string end(kJournalMagic.size(), '\0');
  stream.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  stream.read(end.data(), static_cast<std::streamsize>(end.size()));
  return stream && end == kJournalMagic;
}

base::Result<void> copy_if_there(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return {};
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  // The original's permissions came along, and recovery has to write.
  const auto writable = fs::perms::owner_read | fs::perms::owner_write;
  if (!error) fs::permissions(to, writable, error);
  if (!error) return {};
  return base::fail(base::ErrorKind::kIo, "cannot copy " + base::quoted(from) +
                                              " to recover it in " + base::quoted(to) + ": " +
                                              error.message());
}

void discard(const fs::path& temporary) {
  std::error_code ignored;
  for (const char* part : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(base::beside(temporary, part), ignored);
  }
}

}  // namespace

base::Result<void> check_left_behind(const fs::path& file) {
  std::error_code error;
  // SQLite looks beside what a link leads to. What lies beside the link is only ever copied, as
  // where all files of a folder are links to another's.
  const bool is_link = fs::is_symlink(fs::symlink_status(file, error));
  for (const fs::path& at : {file, is_link ? fs::canonical(file, error) : file}) {
    for (const fs::path& left : {base::beside(at, "-journal"), base::beside(at, "-wal")}) {
      const bool is_copied = is_link && at == file;
      const auto status = is_copied ? fs::status(left, error) : fs::symlink_status(left, error);
      if (!fs::exists(status)) continue;
      // Whoever opens a pipe waits, and what a link leads to would be written over.
      if (fs::is_regular_file(status) && !ends_with_magic(left)) continue;
      return base::fail(base::ErrorKind::kDamaged,
                        base::quoted(left) +
                            " was not left by Shardlens, and would be obeyed "
                            "where it lies: delete it to read what it belongs to");
    }
  }
  return {};
}

base::Result<bool> trace_file_uses_wal(const fs::path& file) {
  TRY_ASSIGN(const Header header, read_header(file));
  TRY(check_marks(file, header));
  TRY(check_size(file, header));
  return header[18] == 2;
}

bool is_trace_file(const fs::path& file) {
  const auto header = read_header(file);
  return header && big_endian(*header, 68, 4) == static_cast<std::uint32_t>(kApplicationId);
}

base::Result<TraceFile> TraceFile::open(const fs::path& file) {
  TraceFile opened;
  opened.file_ = file;
  opened.file_stamp_ = base::stamp_of(file);
  opened.wal_stamp_ = base::stamp_of(base::beside(file, "-wal"));
  TRY_ASSIGN(const bool wal, trace_file_uses_wal(file));
  // Opened any other way, a file in WAL mode with no WAL would get a -wal and a -shm from us, or
  // could not be opened at all in a folder that we may not write to.
  if (wal && opened.wal_stamp_.size == 0) {
    TRY(opened.open_in_place("?mode=ro&immutable=1"));
    return opened;
  }
  const auto in_place = opened.open_in_place("?mode=ro");
  if (in_place) {
    opened.follows_writer_ = true;
    return opened;
  }
  const base::ErrorKind kind = in_place.error().kind;
  if (kind == base::ErrorKind::kForeign || kind == base::ErrorKind::kDamaged) {
    return tl::make_unexpected(in_place.error());
  }
  TRY(opened.open_copy());
  return opened;
}

base::Result<void> TraceFile::open_in_place(const char* options) {
  uri_ = uri_of(file_, options);
  TRY_ASSIGN(database_, open_at(uri_, file_));
  return {};
}

bool TraceFile::same_as_opened() const {
  return base::stamp_of(file_) == file_stamp_ &&
         base::stamp_of(base::beside(file_, "-wal")) == wal_stamp_;
}

bool TraceFile::is_stale() const { return !follows_writer_ && !same_as_opened(); }

bool TraceFile::is_replaced() const {
  const std::uint64_t inode = base::stamp_of(file_).inode;
  return inode != 0 && inode != file_stamp_.inode;
}

base::Result<void> TraceFile::open_copy() {
  TRY_ASSIGN(copy_, base::TemporaryFolder::create());
  const fs::path target = copy_->path() / file_.filename();
  // A file that is being written changes under the copy; a few tries find it at rest.
  for (int attempt = 0; attempt < 5; ++attempt) {
    file_stamp_ = base::stamp_of(file_);
    wal_stamp_ = base::stamp_of(base::beside(file_, "-wal"));
    for (const char* part : {"", "-wal", "-journal"}) {
      TRY(copy_if_there(base::beside(file_, part), base::beside(target, part)));
    }
    if (same_as_opened()) break;
  }
  uri_ = uri_of(target, "?mode=rw");
  TRY_ASSIGN(database_, open_at(uri_, file_));
  return {};
}

base::Result<Database> TraceFile::connect() const { return open_at(uri_, file_); }

base::Result<Database> open_for_writing(const fs::path& file) {
  TRY(trace_file_uses_wal(file));
  return open_at(uri_of(file, ""), file);
}

base::Result<void> checkpoint_trace_file(const fs::path& file) {
  TRY_ASSIGN(const bool wal, trace_file_uses_wal(file));
  if (!wal) return {};
  TRY_ASSIGN(Database database, open_for_writing(file));
  sqlite3_busy_timeout(database.get(), 100);
  TRY(database.integer("pragma wal_checkpoint(truncate)"));
  // Refused while somebody reads the file, who then goes on in WAL mode.
  static_cast<void>(database.execute("pragma journal_mode=delete"));
  return {};
}

fs::path temporary_name(const fs::path& file) {
  return base::beside(file, ".new-" + std::to_string(getpid()));
}

base::Result<void> create_database_file(const fs::path& file, const FillFile& fill, bool replace) {
  const fs::path temporary = temporary_name(file);
  discard(temporary);
  auto done = [&]() -> base::Result<void> {
    {
      TRY_ASSIGN(Database database,
                 Database::open(temporary.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                base::quoted(file)));
      // Nobody sees the file before it is complete.
      TRY(database.execute("pragma synchronous=off"));
      TRY(fill(database));
    }
    TRY(base::synchronize(temporary));
    if (!replace) return base::publish_file(temporary, file);
    std::error_code error;
    fs::rename(temporary, file, error);
    if (!error) return {};
    return base::fail(base::ErrorKind::kIo,
                      "cannot replace " + base::quoted(file) + ": " + error.message());
  }();
  if (!done) discard(temporary);
  return done;
}

base::Result<void> create_trace_file(const fs::path& file, const FillFile& fill, bool replace) {
  const auto with_tables = [&](Database& database) -> base::Result<void> {
    TRY(database.execute("begin; " + schema_sql() + " commit"));
    return fill(database);
  };
  return create_database_file(file, with_tables, replace);
}

}  // namespace shardlens::trace::store
