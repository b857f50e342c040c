#include "profiler/inject/device_watch.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "profiler/inject/cuda_driver.h"
#include "profiler/nvml/gpu_census.h"
#include "profiler/nvml/gpu_link.h"

namespace shardlens::profiler::inject {
namespace {

using trace::model::MemoryCategory;

// Ranks take their machine's GPUs in order. One that sees a single GPU may be one of many that do.
nvml::RankPlaces places_of(const CudaDriver& driver, const RankIdentity& identity,
                           const std::string& bus_id) {
  nvml::RankPlaces places;
  places.own = bus_id;
  const int local = identity.local_world_size;
  places.is_single_machine = identity.world_size <= local;
  places.is_shared = driver.devices() > 1 && local > driver.devices();
  for (int rank = 0; rank < std::min(local, driver.devices()); ++rank) {
    const std::string peer = driver.bus_id(static_cast<std::uint32_t>(rank));
    if (peer != bus_id) places.peers.push_back(peer);
  }
  return places;
}

// What this process holds; none where NVML does not tell, as in a container.
std::optional<std::int64_t> held_bytes(const nvml::NvmlLibrary& nvml, nvml::NvmlDevice device) {
  const auto processes = nvml::compute_processes_on(nvml, device);
  if (!processes) return std::nullopt;
  for (const nvml::NvmlProcess& process : *processes) {
    const bool is_ours = process.process_id == static_cast<unsigned>(getpid());
    if (is_ours && process.used_bytes < (1ULL << 62))
      return static_cast<std::int64_t>(process.used_bytes);
  }
  return std::nullopt;
}

trace::model::MemorySample sample_of(const nvml::NvmlLibrary& nvml, nvml::NvmlDevice device,
                                     std::atomic<bool>& tells_process) {
  trace::model::MemorySample sample;
  sample.untold = 0xff;
  nvml::NvmlMemory memory;
  if (nvml.api().memory == nullptr || nvml.api().memory(device, &memory) != nvml::kNvmlSuccess)
    return sample;
  sample.device_total_bytes = static_cast<std::int64_t>(memory.total);
  sample.device_used_bytes = static_cast<std::int64_t>(memory.used);
  // What of it the allocator gave out, and for what, is not known from outside.
  sample.untold = trace::model::MemorySample::kUntoldPurposes;
  const auto held = held_bytes(nvml, device);
  if (held) tells_process = true;
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kOther)] =
      held.value_or(sample.device_used_bytes);
  return sample;
}

}  // namespace

void DeviceWatch::watch(std::uint32_t device) {
  // There may be no thread for it, nor for those that it makes.
  const auto try_to = [this](const auto& work) {
    try {
      work();
    } catch (const std::exception& failure) {
      recorder_.log(
          trace::model::LogLine::Level::kWarning,
          std::string("Memory, power and clocks are not all recorded: ") + failure.what());
    }
  };
  try_to([&] {
    thread_ = std::jthread([this, device, try_to] {
      pthread_setname_np(pthread_self(), "device watch");
      try_to([&] { start(device); });
    });
  });
}

void DeviceWatch::start(std::uint32_t device) {
  auto library = nvml::NvmlLibrary::open();
  if (!library) {
    recorder_.log(trace::model::LogLine::Level::kWarning,
                  "Memory, power and clocks are not recorded: " + library.error().message);
    return;
  }
  nvml_ = std::move(*library);
  const std::string bus_id = CudaDriver().bus_id(device);
  describe(device, bus_id);
  const auto handle = nvml_->device_at(bus_id);
  if (!handle) {
    recorder_.log(trace::model::LogLine::Level::kWarning,
                  "Memory, power and clocks are not recorded: NVML does not know the GPU at \"" +
                      bus_id + "\".");
    return;
  }
  sample_memory(*handle);
  if (auto sampler = nvml::NvmlSampler::start(recorder_, nvml_, bus_id))
    counters_ = std::move(*sampler);
  has_counters_ = counters_ != nullptr;
}

void DeviceWatch::finish() {
  if (thread_.joinable()) thread_.join();
  counters_.reset();
  memory_.reset();
}

std::string DeviceWatch::memory_source() const {
  return tells_process_ ? "memory: NVML, of the process"
                        : "memory: NVML, of the whole GPU, as it does not tell the process's";
}

void DeviceWatch::describe(std::uint32_t device, const std::string& bus_id) {
  const CudaDriver driver;
  nvml::GpuLink link;
  if (identity_.local_world_size > 1 && driver.devices() > 1)
    link = nvml::link_between_ranks(nvml_.get(), places_of(driver, identity_, bus_id));
  std::array<char, 97> name{};
  const auto handle = nvml_->device_at(bus_id);
  if (handle && nvml_->api().name != nullptr)
    nvml_->api().name(*handle, name.data(), static_cast<unsigned>(name.size()) - 1);
  recorder_.update_rank_info([&](trace::model::RankInfo& info) {
    info.device = "cuda:" + std::to_string(device);
    info.device_name = name.data();
    info.versions = "driver " + nvml_->driver_version() + " for CUDA " +
                    nvml::cuda_version_text(nvml_->cuda_version());
    info.link = link.text;
    info.link_bytes_per_second = link.bytes_per_second;
  });
}

void DeviceWatch::sample_memory(nvml::NvmlDevice device) {
  const auto sample = [this, nvml = nvml_, device] {
    return sample_of(*nvml, device, tells_process_);
  };
  memory_ = std::make_unique<memory::MemorySampler>(
      recorder_, memory::MemorySource{sample, sample, nullptr}, kMemoryInterval);
}

}  // namespace shardlens::profiler::inject
