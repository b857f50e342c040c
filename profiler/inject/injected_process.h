// The recorder of this process, made by whichever of CUDA and NVTX is used first. Any thread.
#pragma once

#include "profiler/inject/process_recorder.h"

namespace shardlens::profiler {

// nullptr: nothing is recorded here; standard error has said why, once. It is finished at exit()
// and never destroyed. A child made by fork() records nothing.
ProcessRecorder* injected_recorder();

// Where ranges go; nullptr: nowhere, or no longer.
RangeRecorder* injected_ranges();

}  // namespace shardlens::profiler
