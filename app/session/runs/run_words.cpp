#include "app/session/runs/run_words.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <utility>

#include "app/session/runs/library_run.h"
#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/explore/kept_exploration.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::Result;

namespace {

constexpr std::chrono::seconds kLongestWait{30};  // for a run that is being made

// What was found out about a run stays valid when words change: its events have not.
class KeptFacts {
 public:
  explicit KeptFacts(const fs::path& run)
      : run_(run), before_(trace::store::run_stamp(run)), record_(kept_record(run, before_)) {}
  void keep() const {
    const auto stamp = trace::store::run_stamp(run_);
    for (const auto name : {trace::explore::kFiguresFile, kFiguresCacheFile}) {
      trace::store::keep_on(run_, name, before_, stamp);
    }
    if (!record_) return;
    // From the file: somebody else may have changed other words meanwhile.
    const auto now = trace::store::read_run_info(run_);
    if (!now) return;
    LibraryRun record = *record_;
    take_words(record.info, *now);
    keep_record(record, stamp);
  }

 private:
  const fs::path run_;
  const trace::store::RunStamp before_;
  const std::optional<LibraryRun> record_;
};

Result<void> check_name(const fs::path& runs_dir, const fs::path& run, const std::string& name) {
  if (name.empty() || name != trace::base::printable_line(name)) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "A run needs a name of letters and signs.");
  }
  for (const auto& other : trace::store::list_runs(runs_dir).runs) {
    if (other.name != name || fs::path(other.folder).filename() == run.filename()) continue;
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "Another run of this library is called “" + name + "”. Choose another name.");
  }
  return {};
}

}  // namespace

Result<void> change_words(const fs::path& runs_dir, const fs::path& run,
                          trace::store::RunWords words) {
  std::optional<trace::base::FolderLock>
      claim;  // until the name is written, nobody else may take it
  if (words.name) {
    words.name = std::string(trace::base::trimmed(*words.name));
    TRY_ASSIGN(auto lock, trace::base::FolderLock::acquire(runs_dir, kLongestWait));
    claim.emplace(std::move(lock));
    TRY(check_name(runs_dir, run, *words.name));
  }
  const KeptFacts known(run);
  TRY(trace::store::write_words(run, words));
  known.keep();
  // Whoever looks at the library looks at its folder's time alone.
  utimensat(AT_FDCWD, runs_dir.c_str(), nullptr, 0);
  return {};
}

Result<trace::model::Bookmarks> change_bookmarks(
    const fs::path& run, const std::vector<trace::model::BookmarkChange>& changes) {
  const KeptFacts known(run);
  TRY_ASSIGN(auto bookmarks, trace::store::write_bookmarks(run, changes));
  known.keep();
  return bookmarks;
}

bool take_words(trace::model::RunInfo& shown, const trace::model::RunInfo& now) {
  if (shown.name == now.name && shown.note == now.note && shown.tags == now.tags &&
      shown.bookmarks == now.bookmarks) {
    return false;
  }
  shown.name = now.name;
  shown.note = now.note;
  shown.tags = now.tags;
  shown.bookmarks = now.bookmarks;
  return true;
}

}  // namespace shardlens::app::session
