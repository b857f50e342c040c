// What can be told of the GPU that a foreign program uses, once it has used it: its name, its
// links, its counters and the memory that the process holds there. The thread that takes in CUPTI's
// records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "profiler/inject/rank_identity.h"
#include "profiler/memory_sampler.h"
#include "profiler/nvml/nvml_sampler.h"
#include "profiler/recorder.h"

namespace shardlens::profiler {

class DeviceWatch {
 public:
  static constexpr std::chrono::milliseconds kMemoryInterval{100};

  DeviceWatch(Recorder& recorder, const RankIdentity& identity)
      : recorder_(recorder), identity_(identity) {}

  // Once: a kernel ran there. `device` is CUDA's number in this process.
  void watch(std::uint32_t device);
  bool has_counters() const { return has_counters_; }
  // Samples nothing any more.
  void finish();

 private:
  void describe(std::uint32_t device, const std::string& bus_id);
  void sample_memory(NvmlDevice device);

  Recorder& recorder_;
  const RankIdentity identity_;
  bool has_counters_ = false;
  std::shared_ptr<const NvmlLibrary> nvml_;
  std::unique_ptr<NvmlSampler> counters_;
  std::unique_ptr<MemorySampler> memory_;
};

}  // namespace shardlens::profiler
