#include "trace/store/run/reserved_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace shardlens::trace::store {

ReservedRoom::ReservedRoom(const std::filesystem::path& folder) {
  constexpr rlim_t kBytes = 256 << 10;
  rlimit limit{};
  // A larger file would raise SIGXFSZ, which a program that is recorded may not ignore.
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kBytes) return;
  descriptor_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0 && fallocate(descriptor_, 0, 0, kBytes) != 0) release();
}

void ReservedRoom::release() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace shardlens::trace::store
