#include "trainer/rank/rank_sources.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/text.h"
#include "trace/job/settings/grammars.h"
#include "trainer/loop/device_memory.h"

namespace shardlens::trainer::rank {

namespace {

constexpr std::chrono::milliseconds kHasteLimit{3'000};

}  // namespace

RankSources::RankSources(const Parts& parts) : parts_(parts) {
  if (parts_.device.device.is_cuda()) start_gpu();
  watch_fatal_signals();
  if (parts_.has_detail) {
    observer_ = std::make_unique<profiler::pytorch::OperatorObserver>(parts_.recorder,
                                                                      gpu_activity_ == nullptr);
  }
  memory_sampler_ = std::make_unique<profiler::memory::MemorySampler>(
      parts_.recorder, loop::memory_source(parts_.device.device),
      profiler::memory::MemorySampler::kInterval, allocation_recorder());
  if (parts_.device.device.is_cuda()) start_nvml_sampler();
  warnings_ = std::make_unique<profiler::process::WarningTail>(parts_.recorder, parts_.log_file);
  parts_.recorder.update_rank_info([this](trace::model::RankInfo& info) { info.sources = text(); });
}

std::string RankSources::text() const {
  const bool is_gpu = parts_.device.device.is_cuda();
  std::vector<std::string> sources;
  if (observer_) sources.emplace_back("operators: RecordFunction");
  if (gpu_activity_) sources.emplace_back(profiler::cupti::CuptiSource::kSourceText);
  if (parts_.has_detail && !is_gpu) {
    sources.emplace_back("collectives: Gloo's own thread");
  } else if (records_nccl_kernels()) {
    sources.push_back(std::string(profiler::nccl::NcclPlugin::kSourceText) +
                      ", or the log says why not");
  } else if (parts_.has_detail) {
    sources.emplace_back("collectives: the host's view of NCCL's calls");
  }
  sources.emplace_back(is_gpu ? "memory: CUDA's caching allocator" : "memory: CPU allocator");
  if (nvml_sampler_) sources.emplace_back(profiler::nvml::NvmlSampler::kSourceText);
  return trace::base::joined(sources, "; ");
}

void RankSources::start_gpu() {
  // CUPTI costs where it is on, whatever becomes of its records.
  if (parts_.has_detail) start_gpu_activity();
  // After CUPTI, which wants to see the first call of CUDA, and before the sampler, which asks
  // the allocator. Without a current device a thread would open a context on the first GPU.
  const auto index = parts_.device.device.index();
  at::globalContext().lazyInitDevice(at::kCUDA);
  c10::cuda::set_device(index);
  if (auto listens = profiler::pytorch::install_gpu_memory_tracker(index); !listens) {
    parts_.log.warn(listens.error().message);
  }
}

void RankSources::start_gpu_activity() {
  profiler::nccl::LaunchMarker marker;
  if (auto source = profiler::cupti::CuptiSource::start(parts_.recorder)) {
    gpu_activity_ = std::move(*source);
    marker = {profiler::cupti::CuptiSource::begin_launch, profiler::cupti::CuptiSource::end_launch};
  } else {
    parts_.log.warn(source.error().message +
                    " Until then operators are recorded on the CPU instead.");
  }
  if (auto plugin =
          profiler::nccl::NcclPlugin::attach(parts_.recorder, parts_.environment.rank, marker)) {
    nccl_plugin_ = std::move(*plugin);
  } else {
    parts_.log.warn(plugin.error().message);
  }
}

void RankSources::start_nvml_sampler() {
  if (!parts_.gpu.nvml) {
    parts_.log.warn("Power, clocks and utilization are not recorded: " + parts_.gpu.nvml_problem);
    return;
  }
  auto sampler =
      profiler::nvml::NvmlSampler::start(parts_.recorder, parts_.gpu.nvml, parts_.gpu.pci_bus_id);
  if (sampler) {
    nvml_sampler_ = std::move(*sampler);
  } else {
    parts_.log.warn(sampler.error().message);
  }
}

// What led to a crash is what one wants to see of it.
void RankSources::watch_fatal_signals() {
  fatal_signals_ = std::make_unique<profiler::process::FatalSignals>(
      [this](bool is_last) { is_last ? save_in_haste() : flush_gpu_activity(); }, kHasteLimit);
}

void RankSources::flush_gpu_activity() {
  if (gpu_activity_) gpu_activity_->flush(kHasteLimit / 2);
}

void RankSources::save_in_haste() {
  flush_gpu_activity();
  // The process ends: nobody is left to hear of a failure.
  static_cast<void>(parts_.recorder.stop());
}

std::unique_ptr<profiler::memory::AllocationRecorder> RankSources::allocation_recorder() const {
  const auto schedule = trace::job::parse_allocation_schedule(parts_.settings.record_allocations);
  auto* tracker = loop::allocation_tracker(parts_.device.device);
  if (!schedule || !*schedule || tracker == nullptr || !parts_.has_detail) return nullptr;
  tracker->keep_addresses(true);
  // On a GPU the addresses are needed for the categories, too.
  const bool stops_keeping = parts_.device.device.is_cpu();
  return std::make_unique<profiler::memory::AllocationRecorder>(parts_.recorder, *tracker,
                                                                **schedule, stops_keeping);
}

void RankSources::check_nccl_plugin() const {
  if (nccl_plugin_ == nullptr || parts_.environment.world_size < 2) return;
  if (profiler::nccl::NcclPlugin::communicators() > 0) return;
  parts_.log.warn(
      "Collectives have the times that the host saw, and no algorithm: NCCL did not load Shardlens "
      "as its profiler plugin. It must be of version 2.28 or newer, and NCCL_PROFILER_PLUGIN must "
      "not be set.");
}

void RankSources::stop_sampling() {
  memory_sampler_.reset();
  nvml_sampler_.reset();
}

void RankSources::stop_gpu_activity() {
  // First: it uses CUPTI's source from a thread of its own. A crash from here on costs only what is
  // not written yet.
  fatal_signals_.reset();
  gpu_activity_.reset();  // takes in what CUPTI still holds
  nccl_plugin_.reset();
  warnings_.reset();
}

}  // namespace shardlens::trainer::rank
