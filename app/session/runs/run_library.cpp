#include "app/session/runs/run_library.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/session/runs/run_words.h"
#include "trace/store/run/library_file.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Looks at the folder's time only, unless a run is being written.
constexpr auto kListEvery = 1500ms;
constexpr auto kShowWhileLoading = 1s;

}  // namespace

RunLibrary::RunLibrary(LibraryFolders folders, Notice& notice, std::function<void()> on_publish)
    : folders_(std::move(folders)),
      notice_(notice),
      on_publish_(std::move(on_publish)),
      scan_(folders_, [this] { return known(); }),
      numbering_(folders_.runs_dir),
      known_{.own_job = {}, .awaited = folders_.awaited, .figures = nullptr},
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

LibraryScan::Known RunLibrary::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

void RunLibrary::pin_baseline(const std::string& folder) {
  ask([&] {
    question_changed_ = true;
    to_pin_ = folder;
  });
}

void RunLibrary::change_words(const ui::state::EditRuns& change) {
  add_task([this, change]() -> trace::base::Result<void> {
    for (const auto& folder : change.folders) {
      if (fs::path(folder).parent_path() != folders_.runs_dir) {
        return trace::base::fail(trace::base::ErrorKind::kUsage, kStaysAsItIs);
      }
      TRY(app::session::change_words(
          folders_.runs_dir, folder,
          {.name = change.name, .note = change.note, .tags = change.tags}));
    }
    return {};
  });
}

trace::base::Result<void> RunLibrary::remove_now(const std::vector<std::string>& folders) {
  {
    const std::lock_guard lock(mutex_);
    if (!known_.own_job.empty() && std::ranges::find(folders, known_.own_job) != folders.end()) {
      return trace::base::fail(trace::base::ErrorKind::kUsage,
                               "The run is being recorded: stop it before deleting it.");
    }
  }
  return trash_->take({folders.begin(), folders.end()});
}

bool RunLibrary::carry_out_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks = std::exchange(tasks_, {});
  }
  for (const auto& task : tasks) {
    if (const auto done = task(); !done) notice_.say_why_not(done.error().message);
  }
  return !tasks.empty();
}

void RunLibrary::set_own_job(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  known_.own_job = folder;
}

void RunLibrary::set_figures(std::shared_ptr<const ui::state::RunView> view) {
  ask([&] {
    known_.figures = std::move(view);
    refresh_wanted_ = true;
  });
}

void RunLibrary::set_live(std::shared_ptr<const ui::state::RunView> view) {
  // Taken at the next look: rows need not move faster than they can be read.
  const std::lock_guard lock(mutex_);
  live_ = std::move(view);
}

LibraryState RunLibrary::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

namespace {

// "" of what went well.
template <typename Work>
std::string problem_of(Work work) {
  try {
    work();
    return "";
  } catch (const std::exception& error) {
    return std::string("The library cannot be read: ") + error.what();
  }
}

}  // namespace

void RunLibrary::work(const std::stop_token& stop) {
  trash_.emplace(folders_.runs_dir);
  const trace::store::StopReading closing([&stop] { return stop.stop_requested(); });
  while (!stop.stop_requested()) {
    bool wants_scan = false, changed = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, kListEvery,
                     [this] { return refresh_wanted_ || question_changed_ || !tasks_.empty(); });
      wants_scan = std::exchange(refresh_wanted_, false);
      changed = std::exchange(question_changed_, false);
    }
    if (stop.stop_requested()) break;
    look_around(stop, wants_scan, changed);
  }
  problem_of([this] { keep_pinned(); });  // which may have been asked for last of all
}

void RunLibrary::look_around(const std::stop_token& stop, bool wants_scan, bool changed) {
  std::string problem = problem_of([&] {
    changed |= keep_pinned();
    if (carry_out_tasks()) wants_scan = changed = true;
    if (scan_.is_due() || wants_scan) changed |= scan(stop);
    changed |= take_live_view();
    if (changed && !stop.stop_requested()) publish();
    const std::lock_guard lock(mutex_);
    ++work_.looks;
    state_.work = work_;
  });
  // The next look begins anew.
  if (std::exchange(problems_.of_look, problem) != problem) problem_of([this] { publish(); });
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
    const auto kept = trace::store::pinned_baseline(folders_.runs_dir);
    if (!kept || kept->empty()) return false;
    std::error_code error;
    const bool is_own = fs::exists(folders_.runs_dir / *kept, error);
    pinned_ = ((is_own ? folders_.runs_dir : folders_.bundled_dir) / *kept).string();
    return false;
  }
  asked_pinned_ = true;
  pinned_ = *to_pin;
  const trace::store::StopReading::OnBehalf nobody(nullptr);  // it is kept though the window closes
  const auto done =
      trace::store::pin_baseline(folders_.runs_dir, fs::path(pinned_).filename().string());
  problems_.of_baseline = done ? "" : "The baseline is not kept: " + done.error().message;
  return true;
}

bool RunLibrary::scan(const std::stop_token& stop) {
  const std::string old_problem = problems_.of_numbers;
  const auto has_looked = [this] {
    // A number is given once and kept, also by the library's file.
    problems_.of_numbers = numbering_.number(scan_.own_runs());
    if (!scan_.loaded() && scan_.has_unread() && !scan_.entries().empty()) publish();
  };
  const auto has_read = [this] {
    if (!scan_.loaded()) publish_while_loading();
  };
  const bool changed = scan_.scan(stop, has_looked, has_read);
  return changed || problems_.of_numbers != old_problem;
}

// The table fills while the rest is read; what it costs to show grows with the rows, so it is shown
// when they have doubled, and after a while.
void RunLibrary::publish_while_loading() {
  const bool waited = std::chrono::steady_clock::now() - shown_at_ > kShowWhileLoading;
  if (scan_.entries().size() >= 2 * rows_shown_ || waited) publish();
}

bool RunLibrary::take_live_view() {
  std::shared_ptr<const ui::state::RunView> live;
  {
    const std::lock_guard lock(mutex_);
    live = std::exchange(live_, nullptr);
  }
  return live && scan_.take_live(*live);
}

void RunLibrary::publish() {
  std::vector<LibraryRun> records;
  for (auto& [folder, entry] : scan_.entries()) {
    entry.record.number = numbering_.number_of(entry.record.info);
    records.push_back(entry.record);
  }
  LedgerQuestion question;
  {
    const std::lock_guard lock(mutex_);
    question = question_;
  }
  auto ledger = build_ledger(records, question);
  ledger.problems = scan_.problems();
  for (const auto* problem : {&problems_.of_look, &problems_.of_numbers, &problems_.of_baseline}) {
    if (!problem->empty()) ledger.problems.push_back(*problem);
  }
  ledger.next_number = numbering_.next();
  ledger.deleted = trash_->last();
  for (auto& row : ledger.rows) {
    row.is_pinned = row.is_baseline && row.folder == pinned_;
    row.is_being_read = scan_.entries().at(row.folder).is_awaited;
  }
  rows_shown_ = ledger.rows.size();
  work_.infos_read = scan_.infos_read();
  work_.records_read = scan_.records_read();
  ++work_.publications;
  work_.rows_published += rows_shown_;
  {
    const std::lock_guard lock(mutex_);
    state_.ledger = std::make_shared<const ui::state::Ledger>(std::move(ledger));
    state_.loaded = scan_.loaded();
    state_.pinned_baseline = pinned_;
    state_.work = work_;
    ++state_.version;
  }
  shown_at_ = std::chrono::steady_clock::now();
  on_publish_();
}

}  // namespace shardlens::app::session
