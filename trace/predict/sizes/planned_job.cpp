#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

// LibTorch 2.11 has bf16 multiplied by oneDNN where there is AVX-512, and that makes the result in
// fp32 first, with 4 bytes a value of scratch memory, where the CPU has no instructions for bf16.
bool this_cpu_widens_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bf16") == 0;
#else
  return false;
#endif
}

PlannedJob job_on_this_machine(const job::Settings& settings, const job::ModelShape& shape) {
  return {.settings = settings,
          .shape = shape,
          .ranks = settings.ranks,
          .ranks_per_node = settings.ranks,
          .on_gpu = settings.device == job::DeviceChoice::kCuda,
          .widens_bf16 = this_cpu_widens_bf16()};
}

}  // namespace shardlens::trace::predict
