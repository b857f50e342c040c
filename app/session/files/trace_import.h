// Imports traces into the library behind the window, one after the other. Public functions: any
// thread, none waits for a file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shardlens::app::session {

struct ImportState {
  std::string notice;  // "Importing rank0.json.gz: 40 %", what came of it, or why nothing did
  bool is_error = false;
  std::filesystem::path imported;  // the last run that was made
  std::uint64_t version = 0;
};

class TraceImport {
 public:
  TraceImport(std::filesystem::path runs_dir, std::function<void()> on_publish);

  // One run of all of them: a file per rank.
  void add(std::vector<std::filesystem::path> files);
  ImportState state() const;

 private:
  using Files = std::vector<std::filesystem::path>;

  void work(const std::stop_token& stop);
  void import_files(const Files& files, const std::stop_token& stop);
  void publish(const std::string& notice, bool is_error,
               const std::filesystem::path& imported = {});

  const std::filesystem::path runs_dir_;
  const std::function<void()> on_publish_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  std::deque<Files> waiting_;
  ImportState state_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
