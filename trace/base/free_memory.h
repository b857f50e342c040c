// Memory that was freed goes back to the system. Any thread.
#pragma once

namespace shardlens::trace::base {

// glibc keeps what lies between things that live on: after a large run was read, hundreds of
// megabytes. Takes some milliseconds.
void give_back_memory();

}  // namespace shardlens::trace::base
