#include "trainer/rank/rank_device.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

#include <thread>

#include "trace/base/number_text.h"
#include "trace/base/this_machine.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trainer::rank {

namespace {

std::string cpu_text() {
  const std::string name = trace::base::cpu_name();
  return (name.empty() ? "CPU" : name) + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores";
}

trace::base::Result<RankDevice> choose_gpu(const trace::job::Settings& settings,
                                           const RankPlace& environment, int gpus) {
  const int ranks = environment.local_world_size;
  if (gpus == 0) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "device is cuda, but this machine has no usable NVIDIA GPU. Set device to "
        "cpu or auto.");
  }
  if (ranks > gpus && !settings.oversubscribe) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        std::to_string(ranks) + " ranks on this machine, but this one sees " +
            trace::base::counted(gpus, "GPU") +
            ". If CUDA_VISIBLE_DEVICES hides GPUs, as where a launcher gives each rank its own, "
            "let every rank see all of them. Else use fewer ranks, set oversubscribe to share "
            "GPUs, or set device to cpu.");
  }
  const auto index = static_cast<c10::DeviceIndex>(environment.local_rank % gpus);
  return RankDevice{c10::Device(c10::kCUDA, index), ranks > gpus};
}

}  // namespace

trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment) {
  // Who wants the CPU does not wake CUDA's driver.
  const bool wants_cpu = trace::job::runs_on_cpu(settings, /*has_gpus=*/true);
  const int gpus = wants_cpu ? 0 : static_cast<int>(c10::cuda::device_count());
  return choose_device(settings, environment, gpus);
}

trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment, int gpus) {
  if (trace::job::runs_on_cpu(settings, gpus > 0)) return RankDevice{};
  return choose_gpu(settings, environment, gpus);
}

std::string device_name(c10::Device device) {
  if (!device.is_cuda()) return cpu_text();
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device.index()));
  return properties.name;
}

}  // namespace shardlens::trainer::rank
