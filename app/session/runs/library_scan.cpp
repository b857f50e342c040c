#include "app/session/runs/library_scan.h"

#include <algorithm>
#include <utility>

#include "app/session/runs/library_run.h"
#include "app/session/runs/run_liveness.h"
#include "app/session/runs/run_words.h"
#include "app/session/worker/read_safely.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::model::RunStatus;

namespace {

// A new folder is seen before its files are complete.
constexpr int kLooksAfterChange = 4;

// Until what could not be read is tried again: after each failure twice as long.
constexpr std::chrono::seconds kFirstPause{1}, kLongestPause{300};

}  // namespace

bool LibraryScan::is_due() {
  std::error_code error;
  const auto time = fs::last_write_time(folders_.runs_dir, error);
  const auto before = std::exchange(runs_dir_time_, error ? fs::file_time_type{} : time);
  if (before != runs_dir_time_) looks_after_change_ = kLooksAfterChange;
  if (looks_after_change_ == 0) {
    const auto is_to_be_tried = [now = Clock::now()](const auto& failed) {
      return failed.second.next_try <= now;
    };
    return has_running_ || std::ranges::any_of(failures_, is_to_be_tried);
  }
  --looks_after_change_;
  return true;
}

bool LibraryScan::scan(const std::stop_token& stop, const std::function<void()>& has_looked,
                       const std::function<void()>& has_read) {
  seen_.clear();
  unread_.clear();
  has_running_ = false;
  const auto old_problems = std::exchange(problems_, {});
  bool changed = scan_folder(folders_.runs_dir, false, stop);
  if (!folders_.bundled_dir.empty()) changed |= scan_folder(folders_.bundled_dir, true, stop);
  if (stop.stop_requested()) return false;
  if (!loaded_) trace::store::drop_kept_of_gone_runs(folders_.runs_dir);
  const auto is_gone = [this](const auto& entry) { return !seen_.contains(entry.first); };
  const auto gone = std::erase_if(entries_, is_gone);
  std::erase_if(failures_, is_gone);
  has_looked();
  changed |= read_all(stop, has_read);
  const bool first = !std::exchange(loaded_, true);
  return changed || gone > 0 || first || old_problems != problems_;
}

bool LibraryScan::scan_folder(const fs::path& folder, bool bundled, const std::stop_token& stop) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const auto paths = trace::store::run_paths(folder);
  if (!paths) problems_.push_back(paths.error().message);
  bool changed = false;
  for (const auto& run : paths.value_or(std::vector<fs::path>{})) {
    if (stop.stop_requested()) return false;
    seen_.insert(run.string());
    changed |= look_at(run, bundled);
  }
  return changed;
}

// Whether a run that says it is running really is: its files are read only once they are left
// alone.
bool LibraryScan::lives(const std::string& folder, const trace::store::RunStamp& stamp) const {
  if (folder == known_().own_job) return true;
  if (trace::store::was_just_written(stamp)) return true;
  const auto known = entries_.find(folder);
  if (known == entries_.end() || known->second.stamp != stamp) return false;
  return !is_abandoned(known->second.record.liveness, trace::base::wall_clock_ns());
}

// What has not changed since the last look is not opened; what is to be read goes to `unread_`.
bool LibraryScan::look_at(const fs::path& run, bool bundled) {
  const std::string folder = run.string();
  const auto stamp = trace::store::run_stamp(run);
  const auto known = entries_.find(folder);
  const bool is_same = known != entries_.end() && known->second.stamp == stamp;
  if (const auto failed = failures_.find(folder); failed != failures_.end() &&
                                                  failed->second.stamp == stamp &&
                                                  Clock::now() < failed->second.next_try) {
    problems_.push_back(failed->second.message);
    return false;
  }
  std::optional<LibraryRun> kept;
  if (!is_same) kept = kept_record(run, stamp);
  RunStatus status = is_same ? known->second.status_on_disk : RunStatus::kFailed;
  Unread unread{.info = {}, .stamp = stamp, .is_bundled = bundled};
  if (is_same) {
    unread.info = known->second.record.info;
    unread.info.status = status;
  } else if (!kept) {
    ++infos_read_;
    auto info = trace::store::read_run_info(run);
    if (!info) {
      note_failure(folder, stamp, info.error());
      return false;
    }
    unread.info = std::move(*info);
  }
  if (kept) unread.info = kept->info;
  status = unread.info.status;
  const bool running = status == RunStatus::kRunning && lives(folder, stamp);
  // A run that is being written changes with every look: its status alone is watched.
  if (known != entries_.end() && known->second.status_on_disk == status) {
    const bool shown_as_running = known->second.record.info.status == RunStatus::kRunning;
    const bool unchanged = is_same && (status != RunStatus::kRunning || !shown_as_running);
    if ((running && shown_as_running) || unchanged) {
      has_running_ = has_running_ || running;
      failures_.erase(folder);
      return take_words(known->second.record.info, unread.info);
    }
  }
  if (kept) return take_in(std::move(unread), std::move(*kept));
  unread_.push_back(std::move(unread));
  return false;
}

// What lies with the file itself stays until that changes; too many open files, say, or a full disk
// do not.
void LibraryScan::note_failure(const std::string& folder, const trace::store::RunStamp& stamp,
                               const trace::base::Error& error) {
  using trace::base::ErrorKind;
  problems_.push_back(error.message);
  const bool may_pass = error.kind != ErrorKind::kDamaged && error.kind != ErrorKind::kForeign &&
                        error.kind != ErrorKind::kOtherVersion;
  Failure& failure = failures_[folder];
  const auto waited = failure.stamp == stamp ? failure.wait : Clock::duration::zero();
  failure = {.stamp = stamp, .message = error.message};
  if (!may_pass) return;
  failure.wait = std::clamp<Clock::duration>(2 * waited, kFirstPause, kLongestPause);
  failure.next_try = Clock::now() + failure.wait;
}

bool LibraryScan::read_all(const std::stop_token& stop, const std::function<void()>& has_read) {
  bool changed = false;
  for (auto& run : unread_) {
    if (stop.stop_requested()) return false;
    if (await(run)) continue;
    auto record = record_of(run);
    if (!record) {
      note_failure(run.info.folder, run.stamp, record.error());
      continue;
    }
    changed |= take_in(std::move(run), std::move(*record));
    has_read();
  }
  return changed;
}

// None are those of a run whose place this one has taken.
std::shared_ptr<const ui::state::RunView> LibraryScan::figures_of(const Unread& run) const {
  auto view = known_().figures;
  const bool is_its = view && view->figures.info.folder == run.info.folder &&
                      view->inode == run.stamp.inode &&
                      view->figures.info.start_ns == run.info.start_ns;
  return is_its ? view : nullptr;
}

// Shown as far as its run file tells, until its figures come from whoever reads them.
bool LibraryScan::await(const Unread& run) {
  if (run.info.folder != known_().awaited || figures_of(run)) return false;
  Entry entry{.stamp = {}, .status_on_disk = run.info.status, .record = {}, .is_awaited = true};
  entry.record.info = run.info;
  entry.record.is_bundled = run.is_bundled;
  entries_[run.info.folder] = std::move(entry);
  return true;
}

trace::base::Result<LibraryRun> LibraryScan::record_of(const Unread& run) {
  const auto figures = figures_of(run);
  if (!figures) ++records_read_;
  const std::string& folder = run.info.folder;
  auto record = figures ? trace::base::Result<LibraryRun>(record_from_figures(figures->figures))
                        : read_safely(folder, [&] { return read_library_run(folder); });
  // Those of the figures are of when the run was opened.
  if (record) take_words(record->info, run.info);
  // Of a run that is being written, what was read may be newer than the stamp.
  if (record && trace::store::is_settled(run.info.folder, run.stamp))
    keep_record(*record, run.stamp);
  return record;
}

bool LibraryScan::take_in(Unread run, LibraryRun record) {
  const std::string folder = run.info.folder;
  const bool says_running = run.info.status == RunStatus::kRunning;
  record.is_bundled = run.is_bundled;
  const bool abandoned = says_running && !lives(folder, run.stamp) &&
                         is_abandoned(record.liveness, trace::base::wall_clock_ns());
  if (abandoned) mark_as_cut_off(record.info);
  has_running_ = has_running_ || (says_running && !abandoned);
  failures_.erase(folder);
  entries_[folder] = {run.stamp, run.info.status, std::move(record), false};
  return true;
}

std::vector<const trace::model::RunInfo*> LibraryScan::own_runs() const {
  std::vector<const trace::model::RunInfo*> runs;
  for (const auto& [folder, entry] : entries_) {
    if (!entry.record.is_bundled) runs.push_back(&entry.record.info);
  }
  for (const auto& run : unread_) {
    if (!run.is_bundled) runs.push_back(&run.info);
  }
  return runs;
}

bool LibraryScan::take_live(const ui::state::RunView& live) {
  const auto entry = entries_.find(live.figures.info.folder);
  if (entry == entries_.end()) return false;
  if (entry->second.status_on_disk != RunStatus::kRunning) return false;
  entry->second.record = record_from_figures(live.figures);
  // Its end is for the scan to find, which then reads the file.
  entry->second.record.info.status = RunStatus::kRunning;
  entry->second.record.liveness.status = RunStatus::kRunning;
  return true;
}

}  // namespace shardlens::app::session
