// Keeps the table of all runs up to date on a thread of its own: scans the folders, computes each
// run's summary once, publishes the ledger. Public functions: any thread, none waits for a file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/session/run_record.h"
#include "ui/snapshot.h"

namespace shardlens::app {

struct LibraryFolders {
  std::filesystem::path runs_dir;
  std::filesystem::path bundled_dir;  // "": no runs came with the program
};

struct LibraryState {
  std::shared_ptr<const ui::Ledger> ledger = std::make_shared<const ui::Ledger>();
  bool loaded = false;  // every run was looked at once
  std::uint64_t version = 0;
};

class RunLibrary {
 public:
  RunLibrary(LibraryFolders folders, std::function<void()> on_publish);
  ~RunLibrary() = default;  // stops and joins
  RunLibrary(const RunLibrary&) = delete;
  RunLibrary& operator=(const RunLibrary&) = delete;

  void refresh();  // now, rather than within a second or two
  void set_baseline(const std::string& folder);
  void set_shown(const std::string& folder);
  // The run that this program itself records at the moment, "" for none: it surely lives.
  void set_own_job(const std::string& folder);
  // Figures of a run that is being recorded, so that its row moves without reading it twice.
  void set_live(std::shared_ptr<const ui::RunView> view);

  LibraryState state() const;

 private:
  struct Entry {
    RunStamp stamp;
    trace::RunStatus status_on_disk = trace::RunStatus::kRunning;
    RunRecord record;
  };

  template <typename Change>
  void ask(Change change);
  void work(const std::stop_token& stop);
  void look_around(const std::stop_token& stop, bool wants_scan, bool changed);
  bool scan(const std::stop_token& stop);
  bool scan_folder(const std::filesystem::path& folder, bool bundled, const std::stop_token& stop);
  bool look_at(const trace::RunInfo& info, bool bundled);
  bool lives(const trace::RunInfo& info, const RunStamp& stamp);
  bool take_live_view();
  bool folders_changed();
  void publish();

  const LibraryFolders folders_;
  std::function<void()> on_publish_;

  // The worker's own.
  std::map<std::string, Entry> entries_;  // by folder
  std::vector<std::string> problems_;
  std::map<std::string, bool> seen_;
  std::filesystem::file_time_type runs_dir_time_{};
  bool loaded_ = false;
  bool has_running_ = false;
  int looks_after_change_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  bool refresh_wanted_ = true;
  bool question_changed_ = false;
  std::string baseline_, shown_, own_job_;
  std::shared_ptr<const ui::RunView> live_;
  LibraryState state_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app
