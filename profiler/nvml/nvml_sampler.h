// Samples a GPU's counters at a fixed rate into the recorder, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "profiler/nvml/gpu_counters.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::nvml {

class NvmlSampler {
 public:
  static constexpr std::chrono::milliseconds kInterval{200};
  // For RankInfo::sources.
  static constexpr std::string_view kSourceText = "power, clocks, utilization and traffic: NVML";

  // kMissing where the library has no device of that PCI bus id. The recorder must outlive it.
  static trace::base::Result<std::unique_ptr<NvmlSampler>> start(
      recorder::Recorder& recorder, std::shared_ptr<const NvmlLibrary> library,
      const std::string& pci_bus_id, std::chrono::milliseconds interval = kInterval);

 private:
  NvmlSampler(recorder::Recorder& recorder, std::shared_ptr<const NvmlLibrary> library,
              NvmlDevice device, std::chrono::milliseconds interval);
  void run(const std::stop_token& stop);

  recorder::Recorder& recorder_;
  const std::shared_ptr<const NvmlLibrary> library_;
  const std::chrono::milliseconds interval_;
  GpuCounters counters_;
  std::mutex mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace shardlens::profiler::nvml
