// Memory that was freed goes back to the system. Any thread.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <thread>

namespace shardlens::app::session {

// glibc keeps what lies between things that live on: after a large run was read, hundreds of
// megabytes. Takes some milliseconds.
inline void give_back_memory() { malloc_trim(0); }

// glibc gives each thread an arena, up to eight for each core, and what one frees serves no other:
// where many threads read a run, a tenth more memory. Made before the threads.
struct SharedArenas {
  SharedArenas() {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    mallopt(M_ARENA_MAX, std::max(4, cores / 4));
  }
};

}  // namespace shardlens::app::session
