// Looks for steps in the kernels of all streams. One thread; a stream's kernels in the order of
// their start. Those of CUDA graphs count as one stream's: the driver may spread them over streams
// of its own, so that an optimizer's would lie beside what it follows.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "profiler/cupti/api/activity.h"
#include "profiler/inject/steps/found_steps.h"
#include "profiler/inject/steps/kernel_steps.h"
#include "profiler/inject/steps/repeated_kernels.h"
#include "trace/model/events.h"

namespace shardlens::profiler::inject {

class StreamSteps {
 public:
  explicit StreamSteps(FoundSteps& steps) : steps_(steps) {}

  // `name` stands for the kernel's name.
  void add(const cupti::KernelActivity& kernel, trace::model::StringId name);
  // Nothing more comes.
  void finish();

 private:
  // Training has one stream for compute and a few beside it.
  static constexpr std::size_t kMostStreams = 8;

  struct Stream {
    explicit Stream(FoundSteps& steps)
        : by_optimizer(steps, StepSource::kOptimizer),
          by_pattern(steps, StepSource::kPattern),
          optimizer(by_optimizer),
          pattern(by_pattern) {}
    FoundSteps::Finder by_optimizer, by_pattern;
    KernelSteps optimizer;
    RepeatedKernels pattern;
  };
  KernelPart part_of(std::string_view kernel, trace::model::StringId name);

  FoundSteps& steps_;
  std::map<cupti::StreamKey, std::unique_ptr<Stream>> streams_;
  std::unordered_map<trace::model::StringId, KernelPart> parts_;
};

}  // namespace shardlens::profiler::inject
