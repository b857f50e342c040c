// Imports traces into the library behind the window, one after the other. Public functions: any
// thread, none waits for a file.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "app/session/worker/notice.h"

namespace shardlens::app::session {

class TraceImport {
 public:
  // `notice`: "Importing rank0.json.gz: 40 %", what came of it, or why nothing did.
  TraceImport(std::filesystem::path runs_dir, Notice& notice);

  // One run of all of them: a file per rank.
  void add(std::vector<std::filesystem::path> files);
  // The last run that was made; once.
  std::optional<std::filesystem::path> take_imported();

 private:
  using Files = std::vector<std::filesystem::path>;

  void work(const std::stop_token& stop);
  void import_files(const Files& files, const std::stop_token& stop);

  const std::filesystem::path runs_dir_;
  Notice& notice_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::deque<Files> waiting_;
  std::optional<std::filesystem::path> imported_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
