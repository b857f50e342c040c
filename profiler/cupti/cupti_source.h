// Records what the GPU did through CUPTI's activity records. Start it before the first CUDA call;
// one per process, and none under another profiler. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "profiler/cupti/recorder_sink.h"
#include "profiler/recorder.h"
#include "trace/model/result.h"

namespace shardlens::profiler {

struct CuptiOptions {
  std::size_t buffers = 32;  // of 1 MiB
  // Sees every kernel, those without detail too, before it is recorded; the flush thread.
  KernelObserver on_kernel;
};

class CuptiSource {
 public:
  // kFailed without a driver or where another profiler has CUPTI; the message says what is recorded
  // instead. The recorder must outlive the source.
  static trace::Result<std::unique_ptr<CuptiSource>> start(Recorder& recorder,
                                                           CuptiOptions options = {});
  // Takes in what CUPTI still holds.
  ~CuptiSource();

  // For RankInfo::sources.
  static constexpr std::string_view kSourceText = "kernels, copies and launches: CUPTI";

 private:
  struct State;
  explicit CuptiSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::profiler
