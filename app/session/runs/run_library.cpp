#include "app/session/runs/run_library.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/session/runs/ledger.h"
#include "app/session/runs/record_cache.h"
#include "app/session/runs/run_pulse.h"
#include "app/session/runs/run_words.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/library_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using trace::RunStatus;

namespace {

// Looks at the folder's time only, unless a run is being written.
constexpr auto kListEvery = 1500ms;
// A new folder is seen before its files are complete.
constexpr int kLooksAfterChange = 4;
constexpr auto kShowWhileLoading = 1s;

// A damaged file may say what no memory suffices for; the other runs are still to be shown.
trace::Result<RunRecord> read_safely(const std::string& run) {
  try {
    return read_run_record(run);
  } catch (const std::exception& error) {
    return trace::fail(trace::ErrorKind::kDamaged,
                       "The run " + run + " cannot be read: " + error.what());
  }
}

}  // namespace

RunLibrary::RunLibrary(LibraryFolders folders, std::function<void()> on_publish)
    : folders_(std::move(folders)),
      on_publish_(std::move(on_publish)),
      numbering_(folders_.runs_dir),
      awaited_(folders_.awaited),
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

void RunLibrary::pin_baseline(const std::string& folder) {
  ask([&] {
    question_changed_ = true;
    to_pin_ = folder;
  });
}

void RunLibrary::set_shown(const std::string& folder) {
  ask([&] { question_changed_ |= std::exchange(shown_, folder) != folder; });
}

void RunLibrary::add_task(Task task) {
  ask([&] { tasks_.push_back(std::move(task)); });
}

void RunLibrary::change_words(const ui::EditRuns& change) {
  add_task([this, change]() -> trace::Result<void> {
    for (const auto& folder : change.folders) {
      if (fs::path(folder).parent_path() != folders_.runs_dir) {
        return trace::fail(trace::ErrorKind::kUsage, kStaysAsItIs);
      }
      TRY(app::change_words(folders_.runs_dir, folder,
                            {.name = change.name, .note = change.note, .tags = change.tags}));
    }
    return {};
  });
}

void RunLibrary::remove(const std::vector<std::string>& folders) {
  add_task([this, folders] { return remove_now(folders); });
}

trace::Result<void> RunLibrary::remove_now(const std::vector<std::string>& folders) {
  {
    const std::lock_guard lock(mutex_);
    if (!own_job_.empty() && std::ranges::find(folders, own_job_) != folders.end()) {
      return trace::fail(trace::ErrorKind::kUsage,
                         "The run is being recorded: stop it before deleting it.");
    }
  }
  return trash_->take({folders.begin(), folders.end()});
}

void RunLibrary::undo_remove() {
  add_task([this] { return trash_->give_back(); });
}

bool RunLibrary::carry_out_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks = std::exchange(tasks_, {});
  }
  for (const auto& task : tasks) {
    const auto done = task();
    const std::lock_guard lock(mutex_);
    ++state_.answers;
    state_.answer = done ? "" : done.error().message;
  }
  return !tasks.empty();
}

void RunLibrary::set_own_job(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  own_job_ = folder;
}

void RunLibrary::set_awaited(const std::string& folder) {
  ask([&] { refresh_wanted_ |= std::exchange(awaited_, folder) != folder; });
}

void RunLibrary::set_figures(std::shared_ptr<const ui::RunView> view) {
  ask([&] {
    figures_ = std::move(view);
    refresh_wanted_ = true;
  });
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
  trash_.emplace(folders_.runs_dir);
  const trace::StopReading closing([&stop] { return stop.stop_requested(); });
  while (!stop.stop_requested()) {
    bool wants_scan = false, changed = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, kListEvery,
                     [this] { return refresh_wanted_ || question_changed_ || !tasks_.empty(); });
      wants_scan = std::exchange(refresh_wanted_, false);
      changed = std::exchange(question_changed_, false);
    }
    if (stop.stop_requested()) return;
    look_around(stop, wants_scan, changed);
  }
}

void RunLibrary::look_around(const std::stop_token& stop, bool wants_scan, bool changed) {
  try {
    changed |= keep_pinned();
    if (carry_out_tasks()) wants_scan = changed = true;
    if (folders_changed() || wants_scan || has_running_) changed |= scan(stop);
    changed |= take_live_view();
    if (changed && !stop.stop_requested()) publish();
    const std::lock_guard lock(mutex_);
    ++work_.looks;
    state_.work = work_;
  } catch (const std::exception& error) {
    // Seen with the next publication; the next look begins anew.
    problems_ = {std::string("The library cannot be read: ") + error.what()};
  }
}

// What was pinned before is known before the first run is shown.
bool RunLibrary::keep_pinned() {
  std::optional<std::string> to_pin;
  {
    const std::lock_guard lock(mutex_);
    to_pin = std::exchange(to_pin_, std::nullopt);
  }
  if (!to_pin) {
    if (std::exchange(asked_pinned_, true)) return false;
    const auto kept = trace::pinned_baseline(folders_.runs_dir);
    if (!kept || kept->empty()) return false;
    std::error_code error;
    const bool is_own = fs::exists(folders_.runs_dir / *kept, error);
    pinned_ = ((is_own ? folders_.runs_dir : folders_.bundled_dir) / *kept).string();
    return false;
  }
  asked_pinned_ = true;
  pinned_ = *to_pin;
  const auto done = trace::pin_baseline(folders_.runs_dir, fs::path(pinned_).filename().string());
  if (!done) problems_.push_back("The baseline is not kept: " + done.error().message);
  return true;
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
  unread_.clear();
  has_running_ = false;
  const auto old_problems = std::exchange(problems_, {});
  bool changed = scan_folder(folders_.runs_dir, false, stop);
  if (!folders_.bundled_dir.empty()) changed |= scan_folder(folders_.bundled_dir, true, stop);
  if (stop.stop_requested()) return false;
  if (!loaded_) trace::drop_kept_of_gone_runs(folders_.runs_dir);
  const auto is_gone = [this](const auto& entry) { return !seen_.contains(entry.first); };
  const auto gone = std::erase_if(entries_, is_gone);
  std::erase_if(failures_, is_gone);
  number_runs();
  if (!loaded_ && !unread_.empty() && !entries_.empty()) publish();
  changed |= read_all(stop);
  const bool first = !std::exchange(loaded_, true);
  return changed || gone > 0 || first || old_problems != problems_;
}

bool RunLibrary::scan_folder(const fs::path& folder, bool bundled, const std::stop_token& stop) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const auto paths = trace::run_paths(folder);
  if (!paths) problems_.push_back(paths.error().message);
  bool changed = false;
  for (const auto& run : paths.value_or(std::vector<fs::path>{})) {
    if (stop.stop_requested()) return false;
    seen_[run.string()] = true;
    changed |= look_at(run, bundled);
  }
  return changed;
}

// Of a run that says it is running. Its files are read only once they are left alone.
bool RunLibrary::lives(const std::string& folder, const trace::RunStamp& stamp) {
  {
    const std::lock_guard lock(mutex_);
    if (folder == own_job_) return true;
  }
  if (trace::was_just_written(stamp)) return true;
  const auto known = entries_.find(folder);
  if (known == entries_.end() || known->second.stamp != stamp) return false;
  return !is_abandoned(known->second.record.pulse, trace::wall_clock_ns());
}

// What has not changed since the last look is not opened; what is to be read goes to `unread_`.
bool RunLibrary::look_at(const fs::path& run, bool bundled) {
  const std::string folder = run.string();
  const auto stamp = trace::run_stamp(run);
  const auto known = entries_.find(folder);
  const bool is_same = known != entries_.end() && known->second.stamp == stamp;
  if (const auto failed = failures_.find(folder);
      failed != failures_.end() && failed->second.stamp == stamp) {
    problems_.push_back(failed->second.message);
    return false;
  }
  std::optional<RunRecord> kept;
  if (!is_same) kept = kept_record(run, stamp);
  RunStatus status = is_same ? known->second.status_on_disk : RunStatus::kFailed;
  Unread unread{.info = {}, .stamp = stamp, .is_bundled = bundled};
  if (is_same) {
    unread.info = known->second.record.info;
    unread.info.status = status;
  } else if (!kept) {
    ++work_.infos_read;
    auto info = trace::read_run_info(run);
    if (!info) {
      failures_[folder] = {stamp, info.error().message};
      problems_.push_back(info.error().message);
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
      return take_words(known->second.record.info, unread.info);
    }
  }
  if (kept) return take_in(std::move(unread), std::move(*kept));
  unread_.push_back(std::move(unread));
  return false;
}

bool RunLibrary::read_all(const std::stop_token& stop) {
  bool changed = false;
  for (auto& run : unread_) {
    if (stop.stop_requested()) return false;
    if (await(run)) continue;
    auto record = record_of(run);
    if (!record) {
      failures_[run.info.folder] = {run.stamp, record.error().message};
      problems_.push_back(record.error().message);
      continue;
    }
    changed |= take_in(std::move(run), std::move(*record));
    if (!loaded_) publish_while_loading();
  }
  return changed;
}

// Shown as far as its run file tells, until its figures come from whoever reads them.
bool RunLibrary::await(const Unread& run) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_there = figures_ && figures_->figures.info.folder == run.info.folder;
    if (is_there || run.info.folder != awaited_) return false;
  }
  Entry entry{.stamp = {}, .status_on_disk = run.info.status, .record = {}, .is_awaited = true};
  entry.record.info = run.info;
  entry.record.is_bundled = run.is_bundled;
  entries_[run.info.folder] = std::move(entry);
  return true;
}

trace::Result<RunRecord> RunLibrary::record_of(const Unread& run) {
  std::shared_ptr<const ui::RunView> figures;
  {
    const std::lock_guard lock(mutex_);
    if (figures_ && figures_->figures.info.folder == run.info.folder) figures = figures_;
  }
  if (!figures) ++work_.records_read;
  auto record = figures ? trace::Result<RunRecord>(record_from_figures(figures->figures))
                        : read_safely(run.info.folder);
  // Those of the figures are of when the run was opened.
  if (record) take_words(record->info, run.info);
  // Of a run that is being written, what was read may be newer than the stamp.
  const bool is_quiet =
      !trace::was_just_written(run.stamp) && trace::run_stamp(run.info.folder) == run.stamp;
  if (record && is_quiet) keep_record(*record, run.stamp);
  return record;
}

bool RunLibrary::take_in(Unread run, RunRecord record) {
  const std::string folder = run.info.folder;
  const bool says_running = run.info.status == RunStatus::kRunning;
  record.is_bundled = run.is_bundled;
  const bool abandoned = says_running && !lives(folder, run.stamp) &&
                         is_abandoned(record.pulse, trace::wall_clock_ns());
  if (abandoned) mark_as_cut_off(record.info);
  has_running_ = has_running_ || (says_running && !abandoned);
  entries_[folder] = {run.stamp, run.info.status, std::move(record), false};
  return true;
}

// A number is given once and kept, also by the library's file.
void RunLibrary::number_runs() {
  std::vector<const trace::RunInfo*> runs;
  for (const auto& [folder, entry] : entries_) {
    if (!entry.record.is_bundled) runs.push_back(&entry.record.info);
  }
  for (const auto& run : unread_) {
    if (!run.is_bundled) runs.push_back(&run.info);
  }
  if (auto problem = numbering_.number(std::move(runs)); !problem.empty()) {
    problems_.push_back(std::move(problem));
  }
}

// The table fills while the rest is read; what it costs to show grows with the rows, so it is shown
// when they have doubled, and after a while.
void RunLibrary::publish_while_loading() {
  const bool waited = std::chrono::steady_clock::now() - shown_at_ > kShowWhileLoading;
  if (entries_.size() >= 2 * rows_shown_ || waited) publish();
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
  for (auto& [folder, entry] : entries_) {
    entry.record.number = numbering_.number_of(entry.record.info);
    records.push_back(entry.record);
  }
  LedgerQuestion question;
  {
    const std::lock_guard lock(mutex_);
    question = {.baseline_folder = baseline_, .shown_folder = shown_};
  }
  auto ledger = build_ledger(records, question);
  ledger.problems = problems_;
  ledger.next_number = numbering_.next();
  ledger.deleted = trash_->last();
  for (auto& row : ledger.rows) {
    row.is_pinned = row.is_baseline && row.folder == pinned_;
    row.is_being_read = entries_.at(row.folder).is_awaited;
  }
  rows_shown_ = ledger.rows.size();
  ++work_.publications;
  work_.rows_published += rows_shown_;
  {
    const std::lock_guard lock(mutex_);
    state_.ledger = std::make_shared<const ui::Ledger>(std::move(ledger));
    state_.loaded = loaded_;
    state_.pinned_baseline = pinned_;
    state_.work = work_;
    ++state_.version;
  }
  shown_at_ = std::chrono::steady_clock::now();
  on_publish_();
}

}  // namespace shardlens::app
