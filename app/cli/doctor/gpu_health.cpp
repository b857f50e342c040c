#include "app/cli/doctor/gpu_health.h"

#include <unistd.h>

#include <algorithm>

#include "profiler/nvml/nvml_library.h"
#include "trace/base/text.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using profiler::nvml::GpuCensus;
using profiler::nvml::GpuFacts;
using profiler::nvml::PeerAccess;

constexpr int kTrainerCuda = 13000;  // LibTorch 2.11's wheel is built for CUDA 13.0
constexpr const char* kLeastDriver = "580";

std::string memory_text(double count) { return ui::present::format_bytes(count).text(); }

// "GPU 3" or "GPUs 0, 3"
std::string gpus_text(const std::vector<int>& gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + trace::base::joined(gpus);
}

template <typename Is>
std::vector<int> gpus_that(const GpuCensus& census, Is is) {
  std::vector<int> found;
  for (std::size_t i = 0; i < census.gpus.size(); ++i) {
    if (is(census.gpus[i])) found.push_back(static_cast<int>(i));
  }
  return found;
}

int cuda_of(const GpuScene& scene) {
  return scene.census && scene.census->cuda_version > 0 ? scene.census->cuda_version
                                                        : scene.cuda.driver_cuda_version;
}

std::string pair_text(const profiler::nvml::GpuPair& pair) {
  return std::to_string(pair.from) + "–" + std::to_string(pair.to);
}

// "process 4711 (python, 12.0 GiB)"
std::string process_text(const SystemPlaces& places, const profiler::nvml::NvmlProcess& process) {
  const std::string name = process_name(places, process.process_id);
  std::string more = name;
  // NVML_VALUE_NOT_AVAILABLE: all bits set.
  if (process.used_bytes != ~0ull) {
    more += (more.empty() ? "" : ", ") + memory_text(static_cast<double>(process.used_bytes));
  }
  return "process " + std::to_string(process.process_id) + (more.empty() ? "" : " (" + more + ")");
}

}  // namespace

GpuScene look_at_gpus(const HealthContext& context, const SystemFacts& facts) {
  GpuScene scene{launch::probe_cuda(), std::nullopt, "", facts, context.places};
  if (const auto library = profiler::nvml::NvmlLibrary::open(context.nvml_library)) {
    scene.census = profiler::nvml::take_gpu_census(**library);
  } else {
    scene.nvml_problem = library.error().message;
  }
  return scene;
}

HealthCheck check_driver(const GpuScene& scene) {
  HealthCheck check{.name = "NVIDIA driver"};
  if (!scene.cuda.driver_found && !scene.census) {
    return limited(check,
                   "none: jobs run on the CPU, recorded with operators, collectives and memory; "
                   "runs recorded on GPUs can be viewed, compared and replayed",
                   std::string("For training on a GPU install NVIDIA's driver (") + kLeastDriver +
                       " or later for CUDA 13).");
  }
  if (scene.cuda.error_code != 0) {
    return limited(check,
                   "found, but it does not start (CUDA error " +
                       std::to_string(scene.cuda.error_code) + "): jobs run on the CPU" +
                       (scene.nvml_problem.empty() ? "" : "; " + scene.nvml_problem),
                   "See whether nvidia-smi works; in a container give it the GPUs (--gpus all).");
  }
  const int cuda = cuda_of(scene);
  const std::string version = scene.census ? scene.census->driver : "";
  check.finding = (version.empty() ? "version not known" : version) +
                  (cuda > 0 ? ", for CUDA up to " + profiler::nvml::cuda_version_text(cuda) : "");
  if (cuda > 0 && cuda / 1000 < kTrainerCuda / 1000) {
    return limited(check,
                   check.finding + ": the trainer is built for CUDA " +
                       profiler::nvml::cuda_version_text(kTrainerCuda) + ", so jobs run on the CPU",
                   std::string("Update the driver to ") + kLeastDriver + " or later.");
  }
  if (!scene.census) {
    return limited(check, check.finding + "; " + scene.nvml_problem,
                   "Power, clocks and links of the GPUs are not recorded without NVML.");
  }
  return check;
}

HealthCheck check_gpus(const GpuScene& scene) {
  HealthCheck check{.name = "GPUs"};
  for (const auto& gpu : scene.cuda.devices) {
    check.finding += (check.finding.empty() ? "" : ", ") + gpu.name + " " +
                     memory_text(static_cast<double>(gpu.memory_bytes));
  }
  if (!scene.cuda.devices.empty()) {
    const std::size_t all = scene.census ? scene.census->gpus.size() : 0;
    if (all > scene.cuda.devices.size()) {
      check.finding += "; " + std::to_string(all) + " in the machine, the others are hidden " +
                       "(CUDA_VISIBLE_DEVICES)";
    }
    return check;
  }
  const bool hidden = scene.census && !scene.census->gpus.empty() && scene.cuda.driver_found;
  return limited(check,
                 hidden ? "none to be used: CUDA shows none of the machine's " +
                              std::to_string(scene.census->gpus.size())
                        : "none",
                 hidden ? "See what CUDA_VISIBLE_DEVICES is set to."
                        : "Timings on a CPU show how it works, not how fast a GPU is.");
}

HealthCheck check_profiling_rights(const GpuScene& scene) {
  HealthCheck check{.name = "CUPTI rights"};
  const auto& restricted = scene.system.profiling_is_restricted;
  if (!restricted) {
    check.finding = "not known: the driver publishes no parameters here";
  } else if (!*restricted) {
    check.finding = "every user may profile";
  } else if (scene.system.may_profile) {
    check.finding = "only administrators may profile, and this process is one";
  } else {
    return limited(check,
                   "only administrators may profile (RmProfilingAdminOnly), and this process has "
                   "neither CAP_SYS_ADMIN nor CAP_PERFMON: kernels are traced all the same, unless "
                   "a run's log says that CUPTI refused",
                   "If it did: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia and "
                   "reload it, or in a container use --cap-add=SYS_ADMIN.");
  }
  return check;
}

HealthCheck check_peer_access(const GpuCensus& census) {
  HealthCheck check{.name = "Between GPUs"};
  if (census.gpus.size() < 2) {
    check.finding = "one GPU: nothing to connect; ranks that share it talk over sockets";
    return check;
  }
  std::string staged;
  bool all_nvlink = true, all_known = true;
  for (const auto& pair : census.pairs) {
    all_nvlink = all_nvlink && pair.access == PeerAccess::kNvlink;
    all_known = all_known && pair.access != PeerAccess::kUnknown;
    if (pair.access == PeerAccess::kNone) staged += (staged.empty() ? "" : ", ") + pair_text(pair);
  }
  if (!all_known) {
    check.finding = "not known: the driver does not tell";
    return check;
  }
  const GpuFacts& first = census.gpus.front();
  if (all_nvlink) {
    const double peak =
        first.nvlink.links * profiler::nvml::nvlink_bytes_per_second(first.nvlink.version);
    check.finding = "NVLink between all, " + std::to_string(first.nvlink.links) + " links each";
    if (peak > 0)
      check.finding += ", " + ui::present::format_bandwidth(peak).text() + " in one direction";
    return check;
  }
  check.finding = first.pcie.text.empty() ? "PCIe" : first.pcie.text;
  if (first.pcie.bytes_per_second > 0) {
    check.finding += ", " + ui::present::format_bandwidth(first.pcie.bytes_per_second).text();
  }
  const bool some_nvlink = std::ranges::any_of(
      census.pairs, [](const auto& pair) { return pair.access == PeerAccess::kNvlink; });
  if (some_nvlink)
    check.finding += "; NVLink between some pairs only, so rings run at PCIe's speed";
  if (staged.empty()) return check;
  return limited(
      check,
      check.finding + "; no direct access between " + staged + ": data goes through host memory",
      "Virtualization or ACS may forbid it (see NCCL's manual on PCI access control); "
      "nvidia-smi topo -p2p r shows the pairs.");
}

HealthCheck check_mig(const GpuCensus& census) {
  HealthCheck check{.name = "MIG"};
  const auto split = gpus_that(census, [](const GpuFacts& gpu) { return gpu.mig == true; });
  check.finding = "off";
  if (split.empty()) return check;
  return limited(check,
                 "on for " + gpus_text(split) +
                     ": a rank gets a slice, NCCL works within one slice alone, and utilization is "
                     "not sampled",
                 "For jobs of several GPUs switch it off: nvidia-smi -i " +
                     trace::base::joined(split) + " -mig 0, then reset the GPU.");
}

HealthCheck check_persistence(const GpuCensus& census) {
  HealthCheck check{.name = "Persistence mode"};
  const auto without =
      gpus_that(census, [](const GpuFacts& gpu) { return gpu.persistence == false; });
  check.finding = "on";
  if (without.empty()) return check;
  return limited(check,
                 "off for " + gpus_text(without) +
                     ": the first job after a pause waits seconds for the driver, and set clocks "
                     "are lost",
                 "Run nvidia-persistenced, or nvidia-smi -pm 1.");
}

HealthCheck check_gpu_processes(const GpuScene& scene) {
  HealthCheck check{.name = "Other jobs"};
  std::string found;
  bool all_known = true;
  const auto& gpus = scene.census->gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    all_known = all_known && gpus[i].processes.has_value();
    if (!gpus[i].processes) continue;
    for (const auto& process : *gpus[i].processes) {
      if (process.process_id == static_cast<unsigned>(getpid())) continue;
      found += (found.empty() ? "" : "; ") + process_text(scene.places, process) + " on GPU " +
               std::to_string(i);
    }
  }
  if (found.empty()) {
    check.finding = all_known ? "no other process computes on the GPUs"
                              : "not known: the driver does not list processes here";
    return check;
  }
  return limited(check, found + ": timings of jobs beside it are not representative",
                 "Wait for it, or choose other GPUs with CUDA_VISIBLE_DEVICES.");
}

std::vector<HealthCheck> check_gpu_health(const GpuScene& scene) {
  std::vector<HealthCheck> checks{check_driver(scene), check_gpus(scene)};
  if (!scene.cuda.driver_found && !scene.census) return checks;
  checks.push_back(check_profiling_rights(scene));
  if (!scene.census || scene.census->gpus.empty()) return checks;
  checks.push_back(check_peer_access(*scene.census));
  checks.push_back(check_mig(*scene.census));
  checks.push_back(check_persistence(*scene.census));
  checks.push_back(check_gpu_processes(scene));
  return checks;
}

}  // namespace shardlens::app::cli
