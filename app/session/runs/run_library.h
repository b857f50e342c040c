// Keeps the table of all runs up to date on a thread of its own: lets the folders be scanned,
// numbers the runs, carries out what the user changes, publishes the ledger. Public functions: any
// thread, none waits for a file.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/runs/ledger.h"
#include "app/session/runs/library_scan.h"
#include "app/session/runs/run_numbers.h"
#include "app/session/runs/run_trash.h"
#include "app/session/worker/notice.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// What it took so far: each grows with the number of runs, and not with its square.
struct LibraryWork {
  std::uint64_t looks = 0, publications = 0, rows_published = 0;
  std::uint64_t infos_read = 0, records_read = 0;  // run files opened; whole runs read
};

struct LibraryState {
  std::shared_ptr<const ui::state::Ledger> ledger = std::make_shared<const ui::state::Ledger>();
  bool loaded = false;          // every run was looked at once
  std::string pinned_baseline;  // the folder of the run that was pinned before; "": none
  LibraryWork work;
  std::uint64_t version = 0;
};

class RunLibrary {
 public:
  // `notice` hears why what the user asked to change could not be.
  RunLibrary(LibraryFolders folders, Notice& notice, std::function<void()> on_publish);
  ~RunLibrary() = default;  // stops and joins
  RunLibrary(const RunLibrary&) = delete;
  RunLibrary& operator=(const RunLibrary&) = delete;

  // Now, rather than within a second or two.
  void refresh() {
    ask([this] { refresh_wanted_ = true; });
  }
  // Pinned: kept with the library, until another one is, or none.
  void set_baseline(const std::string& folder) {
    ask([&] { question_changed_ |= std::exchange(question_.baseline_folder, folder) != folder; });
  }
  void pin_baseline(const std::string& folder);
  void set_shown(const std::string& folder) {
    ask([&] { question_changed_ |= std::exchange(question_.shown_folder, folder) != folder; });
  }
  // What the user asks to change.
  void change_words(const ui::state::EditRuns& change);
  void remove(const std::vector<std::string>& folders) {  // until this object goes
    add_task([this, folders] { return remove_now(folders); });
  }
  void undo_remove() {  // of what was removed last
    add_task([this] { return trash_->give_back(); });
  }
  // The run that this program itself records at the moment, "" for none: it surely lives.
  void set_own_job(const std::string& folder);
  // The run whose figures somebody else is reading: it is not read twice. "": none.
  void set_awaited(const std::string& folder) {
    ask([&] { refresh_wanted_ |= std::exchange(known_.awaited, folder) != folder; });
  }
  // The whole figures of a run that has ended.
  void set_figures(std::shared_ptr<const ui::state::RunView> view);
  // Figures of a run that is being recorded, so that its row moves without reading it twice.
  void set_live(std::shared_ptr<const ui::state::RunView> view);

  LibraryState state() const;

 private:
  using Task = std::function<trace::base::Result<void>()>;

  LibraryScan::Known known() const;
  template <typename Change>
  void ask(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    wake_.notify_one();
  }
  void add_task(Task task) {
    ask([&] { tasks_.push_back(std::move(task)); });
  }
  bool carry_out_tasks();
  trace::base::Result<void> remove_now(const std::vector<std::string>& folders);
  void work(const std::stop_token& stop);
  void look_around(const std::stop_token& stop, bool wants_scan, bool changed);
  bool scan(const std::stop_token& stop);
  bool keep_pinned();
  void publish_while_loading();
  bool take_live_view();
  void publish();

  const LibraryFolders folders_;
  Notice& notice_;
  std::function<void()> on_publish_;

  // The worker's own.
  LibraryScan scan_;
  RunNumbering numbering_;
  std::optional<RunTrash> trash_;
  LibraryWork work_;
  std::string pinned_;
  bool asked_pinned_ = false;
  std::size_t rows_shown_ = 0;  // with the last publication
  std::chrono::steady_clock::time_point shown_at_{};
  struct {
    std::string of_look, of_numbers, of_baseline;  // "": none
  } problems_;                                     // as of the last time that each was tried

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  bool refresh_wanted_ = true;
  bool question_changed_ = false;
  LedgerQuestion question_;
  LibraryScan::Known known_;
  std::optional<std::string> to_pin_;
  std::vector<Task> tasks_;
  std::shared_ptr<const ui::state::RunView> live_;
  LibraryState state_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
