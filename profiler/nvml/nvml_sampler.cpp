#include "profiler/nvml/nvml_sampler.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace shardlens::profiler::nvml {

trace::base::Result<std::unique_ptr<NvmlSampler>> NvmlSampler::start(
    recorder::Recorder& recorder, std::shared_ptr<const NvmlLibrary> library,
    const std::string& pci_bus_id, std::chrono::milliseconds interval) {
  const auto device = library->device_at(pci_bus_id);
  if (!device) {
    return trace::base::fail(
        trace::base::ErrorKind::kMissing,
        "Power, clocks and utilization are not recorded: the driver's management "
        "library knows no GPU at " +
            pci_bus_id + ".");
  }
  return std::unique_ptr<NvmlSampler>(
      new NvmlSampler(recorder, std::move(library), *device, interval));
}

NvmlSampler::NvmlSampler(recorder::Recorder& recorder, std::shared_ptr<const NvmlLibrary> library,
                         NvmlDevice device, std::chrono::milliseconds interval)
    : recorder_(recorder),
      library_(std::move(library)),
      interval_(interval),
      counters_(library_, device, recorder::Recorder::now_ns),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void NvmlSampler::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "NVML sampler");
  const GpuCounters::Sinks sinks{
      [this](const CounterReading& reading) {
        recorder_.add_counter(recorder_.intern(reading.name), recorder_.intern(reading.unit),
                              reading.time_ns, reading.value);
      },
      [this](std::string_view name, int status) {
        recorder_.log(trace::model::LogLine::Level::kWarning,
                      "\"" + std::string(name) + "\" is no longer sampled: NVML says " +
                          library_->error_text(status) + ".");
      }};
  auto next = std::chrono::steady_clock::now();
  // Once whenever it is stopped: the shortest of programs has its sample.
  do {
    counters_.read(sinks);
    // At the same times whatever the questions took; what was missed is not made up for.
    next = std::max(next + interval_, std::chrono::steady_clock::now());
    std::unique_lock lock(mutex_);
    wait_.wait_until(lock, stop, next, [] { return false; });
  } while (!stop.stop_requested() && counters_.any_left());
}

}  // namespace shardlens::profiler::nvml
