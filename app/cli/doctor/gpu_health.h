// Checks of driver, GPUs and the way between them. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/doctor/health_check.h"
#include "app/launch/device_probe.h"
#include "profiler/nvml/gpu_census.h"

namespace shardlens::app::cli {

// What a check of GPUs starts from.
struct GpuScene {
  launch::CudaProbe cuda;
  std::optional<profiler::nvml::GpuCensus> census;  // nothing: NVML is not there or does not start
  std::string nvml_problem;                         // why
  SystemFacts system;
  SystemPlaces places;
};

GpuScene look_at_gpus(const HealthContext& context, const SystemFacts& facts);

HealthCheck check_driver(const GpuScene& scene);
HealthCheck check_gpus(const GpuScene& scene);
// The checks from here on are only made where there is a driver.
HealthCheck check_profiling_rights(const GpuScene& scene);
HealthCheck check_peer_access(const profiler::nvml::GpuCensus& census);
HealthCheck check_mig(const profiler::nvml::GpuCensus& census);
HealthCheck check_persistence(const profiler::nvml::GpuCensus& census);
HealthCheck check_gpu_processes(const GpuScene& scene);

// All of them that apply.
std::vector<HealthCheck> check_gpu_health(const GpuScene& scene);

}  // namespace shardlens::app::cli
