// What is in the folders of a library, and what each run's files say: looked at again and again,
// read once. The library's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "app/session/runs/library_run.h"
#include "trace/base/result.h"
#include "trace/store/run/kept_file.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

struct LibraryFolders {
  std::filesystem::path runs_dir;
  std::filesystem::path bundled_dir;  // "": no runs came with the program
  std::string awaited = {};           // a run whose figures come by RunLibrary::set_figures()
};

class LibraryScan {
 public:
  // What others know of runs at the moment.
  struct Known {
    std::string own_job;  // surely lives; "": none
    std::string awaited;  // its figures are being read by somebody else; "": none
    std::shared_ptr<const ui::state::RunView> figures;  // of a run that has ended
  };
  struct Entry {
    trace::store::RunStamp stamp;
    trace::model::RunStatus status_on_disk = trace::model::RunStatus::kRunning;
    LibraryRun record;
    bool is_awaited = false;  // `record` is what its run file says
  };

  LibraryScan(LibraryFolders folders, std::function<Known()> known)
      : folders_(std::move(folders)), known_(std::move(known)) {}

  // Whether a scan may find something: the folder's time has changed, a run is being written, or
  // one that could not be read is to be tried again.
  bool is_due();
  // Looks at every folder, reads what is new. `has_looked`: all runs are known, none of the new
  // ones is read yet. `has_read`: one more is. True: something has changed.
  bool scan(const std::stop_token& stop, const std::function<void()>& has_looked,
            const std::function<void()>& has_read);
  // Of a run that is being recorded; true: it is one of ours.
  bool take_live(const ui::state::RunView& live);

  std::map<std::string, Entry>& entries() { return entries_; }  // by folder
  // Of those with a place in the library's numbering, read or not.
  std::vector<const trace::model::RunInfo*> own_runs() const;
  bool has_unread() const { return !unread_.empty(); }
  // Every run was looked at once.
  bool loaded() const { return loaded_; }
  const std::vector<std::string>& problems() const { return problems_; }
  // Run files opened, whole runs read, so far.
  std::uint64_t infos_read() const { return infos_read_; }
  std::uint64_t records_read() const { return records_read_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Unread {
    trace::model::RunInfo info;
    trace::store::RunStamp stamp;
    bool is_bundled = false;
  };
  struct Failure {
    trace::store::RunStamp stamp;
    std::string message;
    Clock::duration wait{};                                 // from a try to the next
    Clock::time_point next_try = Clock::time_point::max();  // not as it is
  };

  bool scan_folder(const std::filesystem::path& folder, bool bundled, const std::stop_token& stop);
  bool look_at(const std::filesystem::path& run, bool bundled);
  bool lives(const std::string& folder, const trace::store::RunStamp& stamp) const;
  bool read_all(const std::stop_token& stop, const std::function<void()>& has_read);
  bool await(const Unread& run);
  void note_failure(const std::string& folder, const trace::store::RunStamp& stamp,
                    const trace::base::Error& error);
  std::shared_ptr<const ui::state::RunView> figures_of(const Unread& run) const;
  trace::base::Result<LibraryRun> record_of(const Unread& run);
  bool take_in(Unread run, LibraryRun record);

  const LibraryFolders folders_;
  std::function<Known()> known_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Failure> failures_;  // by folder
  std::set<std::string> seen_;
  std::vector<Unread> unread_;
  std::vector<std::string> problems_;
  std::filesystem::file_time_type runs_dir_time_{};
  int looks_after_change_ = 0;
  bool loaded_ = false;
  bool has_running_ = false;
  std::uint64_t infos_read_ = 0, records_read_ = 0;
};

}  // namespace shardlens::app::session
