// Opens trace files, whatever state their writer left them in, and creates them. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "trace/base/file_system.h"
#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// A trace file that is open for reading only.
class TraceFile {
 public:
  // Errors: kMissing, kForeign, kDamaged, kOtherVersion, kIo; each names the file and what to do.
  static base::Result<TraceFile> open(const std::filesystem::path& file);

  Database& database() { return database_; }
  // Another connection to the same, which must not outlive this object.
  base::Result<Database> connect() const;
  // What was opened may no longer be what is there, since it was not opened in place: open again.
  bool is_stale() const;
  // Another file has its name by now. What was opened stays as it was.
  bool is_replaced() const;

 private:
  TraceFile() = default;
  base::Result<void> open_in_place(const char* options);
  base::Result<void> open_copy();
  bool same_as_opened() const;

  std::filesystem::path file_;
  std::string uri_;
  std::optional<base::TemporaryFolder> copy_;  // outlives the database
  Database database_;
  bool follows_writer_ = false;  // opened in place with its WAL
  base::FileStamp file_stamp_, wal_stamp_;
};

// What lies beside a file of SQLite is obeyed as soon as that is opened: a journal can have any
// file deleted. Error kDamaged: it is none that a writer of ours leaves behind.
base::Result<void> check_left_behind(const std::filesystem::path& file);

// Checks the first bytes without SQLite, which would create files beside it; true if the file is in
// WAL mode.
base::Result<bool> trace_file_uses_wal(const std::filesystem::path& file);
// Whether the file has our marks, of any version. False also for a missing file.
bool is_trace_file(const std::filesystem::path& file);

// Creates a file of SQLite. `fill` adds what must be there before anybody can see the file, which
// appears complete or not at all. An existing file is kUsage, unless it may be replaced.
using FillFile = std::function<base::Result<void>(Database&)>;
base::Result<void> create_database_file(const std::filesystem::path& file, const FillFile& fill,
                                        bool replace);
// The same for one that has all tables before it is filled.
base::Result<void> create_trace_file(const std::filesystem::path& file, const FillFile& fill,
                                     bool replace = false);
// What a file is called until it is complete.
std::filesystem::path temporary_name(const std::filesystem::path& file);

// Opens an existing trace for writing.
base::Result<Database> open_for_writing(const std::filesystem::path& file);

// Moves the WAL into the file and, if nobody reads it, leaves WAL mode, so that the file needs
// nothing beside it.
base::Result<void> checkpoint_trace_file(const std::filesystem::path& file);

}  // namespace shardlens::trace::store
