// Packs a run into one file behind the window. Public functions: any thread, none waits for a file.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "app/session/worker/latest_worker.h"
#include "app/session/worker/notice.h"

namespace shardlens::app::session {

class RunPacking {
 public:
  // `notice`: "Packing baseline: 40 %", where it was saved, or why it was not.
  RunPacking(std::filesystem::path save_dir, Notice& notice);

  // One at a time: another one is refused meanwhile.
  void pack(const std::filesystem::path& run);
  // "the packing of baseline"; "" while none is packed.
  std::string under_way() const;

 private:
  using Wanted = std::function<bool()>;

  void work(const std::filesystem::path& run, const Wanted& wanted);

  const std::filesystem::path save_dir_;
  Notice& notice_;

  mutable std::mutex mutex_;  // guards what follows
  std::string packed_;        // its name

  LatestWorker<std::filesystem::path> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
