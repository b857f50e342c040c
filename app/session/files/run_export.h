// Writes a run into one file behind the window, packed or as a trace for Perfetto. Public
// functions: any thread, none waits for a file.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "app/session/worker/latest_worker.h"
#include "app/session/worker/notice.h"
#include "ui/state/commands.h"

namespace shardlens::app::session {

class RunExport {
 public:
  // `notice`: "Exporting baseline: 40 %", where it was saved, or why it was not.
  RunExport(std::filesystem::path save_dir, Notice& notice);

  // One at a time: another one is refused meanwhile.
  void write(const ui::state::ExportRun& command);
  // "the export of baseline"; "" while none is written.
  std::string under_way() const;

 private:
  using Wanted = std::function<bool()>;

  void work(const ui::state::ExportRun& command, const Wanted& wanted);

  const std::filesystem::path save_dir_;
  Notice& notice_;

  mutable std::mutex mutex_;  // guards what follows
  std::string written_;       // its name

  LatestWorker<ui::state::ExportRun> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
