#include "trace/job/library_environment.h"

#include <algorithm>
#include <array>

#include "trace/base/text.h"

namespace shardlens::trace::job {

namespace {

// LibTorch 2.11 reads the second only if the first is not set, or the other way round, by which
// part of the allocator asks first.
constexpr std::string_view kAllocatorConf = "PYTORCH_ALLOC_CONF";
constexpr std::string_view kOldAllocatorConf = "PYTORCH_CUDA_ALLOC_CONF";

// Each decides how ranks communicate, allocate or compute; none holds a secret.
constexpr std::array<std::string_view, 31> kNoted{"NCCL_ALGO",
                                                  "NCCL_PROTO",
                                                  "NCCL_MIN_NCHANNELS",
                                                  "NCCL_MAX_NCHANNELS",
                                                  "NCCL_MIN_CTAS",
                                                  "NCCL_MAX_CTAS",
                                                  "NCCL_NTHREADS",
                                                  "NCCL_BUFFSIZE",
                                                  "NCCL_P2P_DISABLE",
                                                  "NCCL_P2P_LEVEL",
                                                  "NCCL_SHM_DISABLE",
                                                  "NCCL_IB_DISABLE",
                                                  "NCCL_IB_HCA",
                                                  "NCCL_NET",
                                                  "NCCL_NET_GDR_LEVEL",
                                                  "NCCL_CROSS_NIC",
                                                  "NCCL_NVLS_ENABLE",
                                                  "NCCL_CUMEM_ENABLE",
                                                  "NCCL_SOCKET_IFNAME",
                                                  "GLOO_SOCKET_IFNAME",
                                                  "TORCH_NCCL_HIGH_PRIORITY",
                                                  "TORCH_NCCL_AVOID_RECORD_STREAMS",
                                                  "CUDA_DEVICE_MAX_CONNECTIONS",
                                                  "CUDA_LAUNCH_BLOCKING",
                                                  "CUDA_VISIBLE_DEVICES",
                                                  "CUBLAS_WORKSPACE_CONFIG",
                                                  "NVIDIA_TF32_OVERRIDE",
                                                  kAllocatorConf,
                                                  kOldAllocatorConf,
                                                  "OMP_NUM_THREADS",
                                                  "MKL_NUM_THREADS"};

void add_number(std::vector<EnvironmentChange>& changes, std::string_view name,
                std::int64_t value) {
  if (value != kAuto) changes.push_back({name, std::to_string(value)});
}

void add_text(std::vector<EnvironmentChange>& changes, std::string_view name,
              const std::string& value) {
  if (value != "auto") changes.push_back({name, value});
}

}  // namespace

std::vector<EnvironmentChange> environment_changes(
    const Settings& settings, const std::function<bool(std::string_view)>& is_set) {
  std::vector<EnvironmentChange> changes;
  add_text(changes, "NCCL_ALGO", settings.nccl_algo);
  add_text(changes, "NCCL_PROTO", settings.nccl_proto);
  add_number(changes, "NCCL_MIN_NCHANNELS", settings.nccl_min_channels);
  add_number(changes, "NCCL_MAX_NCHANNELS", settings.nccl_max_channels);
  add_number(changes, "CUDA_DEVICE_MAX_CONNECTIONS", settings.cuda_device_max_connections);
  if (settings.allocator_conf == "none") return changes;
  const bool is_given = settings.allocator_conf != "auto";
  if (!is_given && (is_set(kAllocatorConf) || is_set(kOldAllocatorConf))) return changes;
  changes.push_back({kAllocatorConf,
                     is_given ? settings.allocator_conf : std::string("expandable_segments:True")});
  if (is_set(kOldAllocatorConf)) changes.push_back({kOldAllocatorConf, std::nullopt});
  return changes;
}

std::string noted_environment(const std::function<const char*(const char*)>& lookup) {
  std::string lines;
  for (const std::string_view name : kNoted) {
    const char* value = lookup(std::string(name).c_str());
    if (value == nullptr) continue;
    std::string line = value;
    std::ranges::replace(line, '\n', ' ');
    lines += std::string(name) + "=" + line + "\n";
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> parse_environment(std::string_view lines) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string_view line : base::split(lines, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace shardlens::trace::job
