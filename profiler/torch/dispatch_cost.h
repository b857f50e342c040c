// What LibTorch itself needs for an operator more as soon as anybody observes it. The thread that
// starts recording, before its work.
#pragma once

namespace shardlens::profiler {

// Nanoseconds per observed operator on this machine, measured in some milliseconds with an observer
// that does nothing.
double dispatch_cost_ns();

}  // namespace shardlens::profiler
