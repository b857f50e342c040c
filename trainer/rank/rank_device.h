// Where a rank computes: a GPU of its own, a shared one, or the CPU. One thread.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

struct RankDevice {
  c10::Device device = c10::kCPU;
  bool is_shared = false;  // other ranks compute on the same GPU
  std::string kind() const { return device.is_cuda() ? "cuda" : "cpu"; }
};

// GPUs go to local ranks in order. Errors (kUsage): no GPU, or fewer than ranks without
// `oversubscribe`.
trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment);
// The same on a machine with that many GPUs.
trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment, int gpus);

// "Intel Xeon …, 2 cores", "NVIDIA H100 …".
std::string device_name(c10::Device device);

}  // namespace shardlens::trainer::rank
