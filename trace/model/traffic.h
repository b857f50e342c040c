// How much a collective moves: the factors between its size and what a rank sends, and between
// algorithm and bus bandwidth. Source of both: nccl-tests, doc/PERFORMANCE.md. Any thread.
#pragma once

#include "trace/model/events.h"

namespace shardlens::trace::model {

// busbw = algbw × this; n ranks. All-reduce 2(n−1)/n; all-gather, reduce-scatter and all-to-all
// (n−1)/n; broadcast, reduce, send and receive 1; a barrier or unknown function 0.
double bus_factor(CollectiveFunction function, int n);

// Bytes sent per rank ÷ bytes, the mean over the group's ranks. As above, but (n−1)/n for broadcast
// and reduce (n−1 ranks pass the data on) and 0 for receive. 0 with a single rank, except send.
double sent_factor(CollectiveFunction function, int n);

}  // namespace shardlens::trace::model
