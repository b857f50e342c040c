#include "trace/store/run/reserved_room.h"

#include <fcntl.h>
#include <sys/resource.h>

namespace shardlens::trace::store {

ReservedRoom::ReservedRoom(const std::filesystem::path& folder) {
  constexpr rlim_t kBytes = 256 << 10;
  rlimit limit{};
  // A larger file would raise SIGXFSZ, which a program that is recorded may not ignore.
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kBytes) return;
  file_ = base::Descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_.is_open() && fallocate(file_.get(), 0, 0, kBytes) != 0) release();
}

}  // namespace shardlens::trace::store
