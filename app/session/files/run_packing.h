// Packs a run into one file behind the window. Public functions: any thread, none waits for a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include "app/session/worker/latest_worker.h"

namespace shardlens::app::session {

struct PackingState {
  std::string notice;  // "Packing baseline: 40 %", where it was saved, or why it was not
  bool is_error = false;
  std::uint64_t version = 0;
};

class RunPacking {
 public:
  RunPacking(std::filesystem::path save_dir, std::function<void()> on_publish);

  // One at a time: another one is refused meanwhile.
  void pack(const std::filesystem::path& run);
  PackingState state() const;

 private:
  using Wanted = std::function<bool()>;

  void work(const std::filesystem::path& run, const Wanted& wanted);
  void publish(const std::string& notice, bool is_error);

  const std::filesystem::path save_dir_;
  const std::function<void()> on_publish_;
  mutable std::mutex mutex_;  // guards what follows
  PackingState state_;

  LatestWorker<std::filesystem::path> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
