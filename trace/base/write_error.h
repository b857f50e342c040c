// What kind of failure it is when the system refuses to write. Any thread.
#pragma once

#include <cerrno>

#include "trace/base/result.h"

namespace shardlens::trace::base {

// `code`: errno. A quota and a size limit of files are treated as a full disk.
inline ErrorKind write_error_kind(int code) {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return is_full ? ErrorKind::kDiskFull : ErrorKind::kIo;
}

}  // namespace shardlens::trace::base
