#include "trace/store/output_file.h"

#include <system_error>

#include "trace/store/file_system.h"

namespace shardlens::trace {

namespace fs = std::filesystem;

namespace {
// Instructions of SQLite's virtual machine: copying a chunk takes about twenty.
constexpr int kInstructionsBetweenAsking = 500;
}  // namespace

Result<void> check_output(const fs::path& output, bool overwrite, std::string_view example) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output, error))) return {};
  if (fs::is_directory(output, error)) {
    return fail(ErrorKind::kUsage,
                quoted(output) + " is a folder: name a file, such as " + std::string(example));
  }
  if (overwrite) return {};
  return fail(ErrorKind::kUsage,
              quoted(output) + " exists already: choose another name, or give --overwrite");
}

WorkWatch::WorkWatch(Database& database, std::function<bool()> go_on)
    : database_(database), go_on_(std::move(go_on)) {
  if (go_on_) sqlite3_progress_handler(database_.get(), kInstructionsBetweenAsking, ask, this);
}

WorkWatch::~WorkWatch() { sqlite3_progress_handler(database_.get(), 0, nullptr, nullptr); }

int WorkWatch::ask(void* watch) { return static_cast<WorkWatch*>(watch)->go_on_() ? 0 : 1; }

}  // namespace shardlens::trace
