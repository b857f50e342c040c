// Deleted runs until the window closes: a hidden folder of the library, one per program that looks
// at it, from which they can be had back. One thread at a time; waits for the disk.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::app::session {

class RunTrash {
 public:
  // Empties what programs left behind that were killed on this machine.
  explicit RunTrash(std::filesystem::path runs_dir);
  ~RunTrash();  // what is in it is gone
  RunTrash(const RunTrash&) = delete;
  RunTrash& operator=(const RunTrash&) = delete;

  // All of them or none. Folders and packed files of the library with the marks of a run, which
  // nobody records at the moment.
  trace::base::Result<void> take(const std::vector<std::filesystem::path>& runs);
  // What was taken last, or is left of it. A run whose name another one has by now gets a new one.
  trace::base::Result<void> give_back();
  std::size_t last() const { return taken_.empty() ? 0 : taken_.back().size(); }  // how many

 private:
  using Move = std::pair<std::filesystem::path, std::filesystem::path>;  // from, to
  const std::filesystem::path runs_dir_, folder_;
  std::vector<std::vector<Move>> taken_;
  int moved_ = 0;
};

}  // namespace shardlens::app::session
