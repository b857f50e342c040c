// What can be told of the GPU that a foreign program uses, once it has used it: its name, its
// links, its counters and the memory that the process holds there, or all do. It has a thread of
// its own, since NVML takes up to seconds to start where there are many GPUs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "profiler/inject/rank_identity.h"
#include "profiler/memory/memory_sampler.h"
#include "profiler/nvml/nvml_sampler.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::inject {

class DeviceWatch {
 public:
  static constexpr std::chrono::milliseconds kMemoryInterval{100};

  DeviceWatch(recorder::Recorder& recorder, const RankIdentity& identity)
      : recorder_(recorder), identity_(identity) {}

  // Once: a kernel ran there. `device` is CUDA's number in this process. Returns at once; whoever
  // takes in CUPTI's records may call it.
  void watch(std::uint32_t device);
  // Samples nothing any more.
  void finish();
  // Any thread.
  bool has_counters() const { return has_counters_; }
  std::string memory_source() const;

 private:
  void start(std::uint32_t device);
  void describe(std::uint32_t device, const std::string& bus_id);
  void sample_memory(nvml::NvmlDevice device);

  recorder::Recorder& recorder_;
  const RankIdentity identity_;
  std::atomic<bool> has_counters_{false};
  std::atomic<bool> tells_process_{false};  // NVML, what this process holds
  std::shared_ptr<const nvml::NvmlLibrary> nvml_;
  std::unique_ptr<nvml::NvmlSampler> counters_;
  std::unique_ptr<memory::MemorySampler> memory_;
  std::jthread thread_;  // last: it makes the others
};

}  // namespace shardlens::profiler::inject
