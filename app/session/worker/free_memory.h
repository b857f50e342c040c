// Memory that was freed goes back to the system. Any thread.
#pragma once

#include <malloc.h>

namespace shardlens::app::session {

// glibc keeps what lies between things that live on: after a large run was read, hundreds of
// megabytes. Takes some milliseconds.
inline void give_back_memory() { malloc_trim(0); }

}  // namespace shardlens::app::session
