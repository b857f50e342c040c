// The machine that this process runs on. Any thread.
#pragma once

#include <limits.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace shardlens::trace::base {

// "": it has none.
inline std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "";
}

// 0: not known.
inline std::int64_t memory_bytes() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : 0;
}

}  // namespace shardlens::trace::base
