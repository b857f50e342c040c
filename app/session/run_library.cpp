#include "app/session/run_library.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/session/ledger.h"
#include "app/session/record_cache.h"
#include "app/session/run_pulse.h"
#include "app/session/wall_time.h"
#include "trace/store/run_folder.h"

namespace shardlens::app {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::RunStatus;

namespace {

// Looks at the folder's time only, unless a run is being written.
constexpr auto kListEvery = 1500ms;
// A new folder is seen before its files are complete.
constexpr int kLooksAfterChange = 4;
// A recorder writes several times a second.
constexpr auto kQuietFolder = 10s;

bool was_just_written(const RunStamp& stamp) {
  return stamp.newest > fs::file_time_type::clock::now() - kQuietFolder;
}

// A damaged file may say what no memory suffices for; the other runs are still to be shown.
trace::Result<RunRecord> read_safely(const std::string& run, const RunStamp& stamp) {
  try {
    auto record = read_run_record(run);
    // Of a run that is being written, what was read may be newer than the stamp.
    const bool is_quiet = !was_just_written(stamp) && stamp_of(run) == stamp;
    if (record && is_quiet) keep_record(*record, stamp);
    return record;
  } catch (const std::exception& error) {
    return trace::fail(trace::ErrorKind::kDamaged,
                       "The run " + run + " cannot be read: " + error.what());
  }
}

}  // namespace

RunLibrary::RunLibrary(LibraryFolders folders, std::function<void()> on_publish)
    : folders_(std::move(folders)),
      on_publish_(std::move(on_publish)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

template <typename Change>
void RunLibrary::ask(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change();
  }
  wake_.notify_one();
}

void RunLibrary::refresh() {
  ask([this] { refresh_wanted_ = true; });
}

void RunLibrary::set_baseline(const std::string& folder) {
  ask([&] { question_changed_ |= std::exchange(baseline_, folder) != folder; });
}

void RunLibrary::set_shown(const std::string& folder) {
  ask([&] { question_changed_ |= std::exchange(shown_, folder) != folder; });
}

void RunLibrary::set_own_job(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  own_job_ = folder;
}

void RunLibrary::set_live(std::shared_ptr<const ui::RunView> view) {
  // Taken at the next look: rows need not move faster than they can be read.
  const std::lock_guard lock(mutex_);
  live_ = std::move(view);
}

LibraryState RunLibrary::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void RunLibrary::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool wants_scan = false, changed = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, kListEvery,
                     [this] { return refresh_wanted_ || question_changed_; });
      wants_scan = std::exchange(refresh_wanted_, false);
      changed = std::exchange(question_changed_, false);
    }
    if (stop.stop_requested()) return;
    look_around(stop, wants_scan, changed);
  }
}

void RunLibrary::look_around(const std::stop_token& stop, bool wants_scan, bool changed) {
  try {
    if (folders_changed() || wants_scan || has_running_) changed |= scan(stop);
    changed |= take_live_view();
    if (changed && !stop.stop_requested()) publish();
  } catch (const std::exception& error) {
    // Seen with the next publication; the next look begins anew.
    problems_ = {std::string("The library cannot be read: ") + error.what()};
  }
}

bool RunLibrary::folders_changed() {
  std::error_code error;
  const auto time = fs::last_write_time(folders_.runs_dir, error);
  const auto before = std::exchange(runs_dir_time_, error ? fs::file_time_type{} : time);
  if (before != runs_dir_time_) looks_after_change_ = kLooksAfterChange;
  if (looks_after_change_ == 0) return false;
  --looks_after_change_;
  return true;
}

bool RunLibrary::scan(const std::stop_token& stop) {
  seen_.clear();
  has_running_ = false;
  const auto old_problems = std::exchange(problems_, {});
  bool changed = scan_folder(folders_.runs_dir, false, stop);
  if (!folders_.bundled_dir.empty()) changed |= scan_folder(folders_.bundled_dir, true, stop);
  if (stop.stop_requested()) return false;
  const auto gone =
      std::erase_if(entries_, [this](const auto& entry) { return !seen_.contains(entry.first); });
  const bool first = !std::exchange(loaded_, true);
  return changed || gone > 0 || first || old_problems != problems_;
}

bool RunLibrary::scan_folder(const fs::path& folder, bool bundled, const std::stop_token& stop) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const auto library = trace::list_runs(folder);
  for (const auto& problem : library.problems) problems_.push_back(problem.message);
  bool changed = false;
  for (const auto& info : library.runs) {
    if (stop.stop_requested()) return false;
    seen_[info.folder] = true;
    if (!look_at(info, bundled)) continue;
    changed = true;
    if (!loaded_) publish();  // the table fills while the rest is read
  }
  return changed;
}

// Of a run that says it is running. Its files are read only once they are left alone.
bool RunLibrary::lives(const trace::RunInfo& info, const RunStamp& stamp) {
  {
    const std::lock_guard lock(mutex_);
    if (info.folder == own_job_) return true;
  }
  if (was_just_written(stamp)) return true;
  const auto known = entries_.find(info.folder);
  if (known == entries_.end() || known->second.stamp != stamp) return false;
  return !is_abandoned(known->second.record.pulse, wall_now_ns());
}

bool RunLibrary::look_at(const trace::RunInfo& info, bool bundled) {
  const auto stamp = stamp_of(info.folder);
  const bool says_running = info.status == RunStatus::kRunning;
  const bool running = says_running && lives(info, stamp);
  const auto known = entries_.find(info.folder);
  // A run that is being written changes with every look: its status alone is watched.
  if (known != entries_.end() && known->second.status_on_disk == info.status) {
    const bool shown_as_running = known->second.record.info.status == RunStatus::kRunning;
    const bool unchanged = known->second.stamp == stamp && (!says_running || !shown_as_running);
    if ((running && shown_as_running) || unchanged) {
      has_running_ = has_running_ || running;
      return false;
    }
  }
  auto kept = kept_record(info, stamp);
  auto record = kept ? trace::Result<RunRecord>(std::move(*kept)) : read_safely(info.folder, stamp);
  if (!record) {
    problems_.push_back(record.error().message);
    return false;
  }
  record->is_bundled = bundled;
  const bool abandoned = says_running && !running && is_abandoned(record->pulse, wall_now_ns());
  if (abandoned) mark_as_cut_off(record->info);
  has_running_ = has_running_ || (says_running && !abandoned);
  entries_[info.folder] = {stamp, info.status, std::move(*record)};
  return true;
}

bool RunLibrary::take_live_view() {
  std::shared_ptr<const ui::RunView> live;
  {
    const std::lock_guard lock(mutex_);
    live = std::exchange(live_, nullptr);
  }
  if (!live) return false;
  const auto entry = entries_.find(live->figures.info.folder);
  if (entry == entries_.end()) return false;
  if (entry->second.status_on_disk != RunStatus::kRunning) return false;
  entry->second.record = record_from_figures(live->figures);
  // Its end is for the scan to find, which then reads the file.
  entry->second.record.info.status = RunStatus::kRunning;
  entry->second.record.pulse.status = RunStatus::kRunning;
  return true;
}

void RunLibrary::publish() {
  std::vector<RunRecord> records;
  for (const auto& [folder, entry] : entries_) records.push_back(entry.record);
  LedgerQuestion question;
  {
    const std::lock_guard lock(mutex_);
    question = {.baseline_folder = baseline_, .shown_folder = shown_};
  }
  auto ledger = build_ledger(records, question);
  ledger.problems = problems_;
  {
    const std::lock_guard lock(mutex_);
    state_.ledger = std::make_shared<const ui::Ledger>(std::move(ledger));
    state_.loaded = loaded_;
    ++state_.version;
  }
  on_publish_();
}

}  // namespace shardlens::app
