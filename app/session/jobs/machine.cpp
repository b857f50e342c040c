#include "app/session/jobs/machine.h"

#include <unistd.h>

namespace shardlens::app {

Machine this_machine() {
  const auto pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
  Machine machine;
  machine.cuda = probe_cuda();
  if (pages > 0 && page_bytes > 0) machine.host_bytes = std::int64_t{pages} * page_bytes;
  return machine;
}

}  // namespace shardlens::app
