// The entry point that CUDA looks for in the library that CUDA_INJECTION64_PATH names.
#include <exception>

#include "profiler/inject/injected_process.h"

// Called inside the first call of CUDA. 1 is success; 0 would end the program.
extern "C" int InitializeInjection() {
  using shardlens::profiler::inject::InjectedProcess;
  try {
    if (InjectedProcess* process = InjectedProcess::current()) process->start_cuda();
  } catch (const std::exception&) {
    // No thread, no memory: the program goes on without a recording.
  }
  return 1;
}
