// Imports traces into the library behind the window, one after the other. Public functions: any
// thread, none waits for a file.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/session/worker/notice.h"

namespace shardlens::app::session {

class TraceImport {
 public:
  // `notice`: "Importing rank0.json.gz: 40 %", what came of it, or why nothing did.
  TraceImport(std::filesystem::path runs_dir, Notice& notice);

  // One run of all of them: a file per rank. `left_out`: what was named beside them and is none,
  // as in "bad.json"; said with what came of the others.
  void add(std::vector<std::filesystem::path> files, std::string left_out = "");
  // The last run that was made; once.
  std::optional<std::filesystem::path> take_imported();
  // "the import of rank0.json.gz", of those that are not done.
  std::vector<std::string> under_way() const;

 private:
  struct Request {
    std::vector<std::filesystem::path> files;
    std::string left_out;
  };

  void work(const std::stop_token& stop);
  Notice::Words carry_out(const Request& request, const std::stop_token& stop);

  const std::filesystem::path runs_dir_;
  Notice& notice_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::deque<Request> requests_;  // the first is carried out
  std::optional<std::filesystem::path> imported_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
