// Any thread before the others start.
#pragma once

namespace shardlens::trainer::comm {

// Switches PyTorch's flight recorder off, unless the environment has set its size. It notes process
// groups in a map without a lock (pytorch#179313): with Gloo, where each group runs its collectives
// on a thread of its own here, that ends in a crash or an endless loop. Must come before the
// process's first process group.
void turn_flight_recorder_off();

}  // namespace shardlens::trainer::comm
