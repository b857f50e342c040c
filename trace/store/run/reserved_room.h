// Room on a disk that is kept free for what must be said when the disk is full: a file without a
// name, which nobody can leave behind. One thread at a time.
#pragma once

#include <filesystem>

#include "trace/base/file_system.h"

namespace shardlens::trace::store {

class ReservedRoom {
 public:
  // On the disk of `folder`, as much as a few transactions of some ten pages and their journal
  // need. None where its file system cannot do that, or has no such room.
  explicit ReservedRoom(const std::filesystem::path& folder);

  void release() { file_.close(); }

 private:
  base::Descriptor file_;
};

}  // namespace shardlens::trace::store
