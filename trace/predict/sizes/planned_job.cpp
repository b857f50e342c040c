#include "trace/predict/sizes/planned_job.h"

#include <algorithm>
#include <optional>

#include "trace/base/text.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::predict {

namespace {

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

// None: PyTorch takes its own.
std::optional<std::int64_t> configured_workspace_bytes(std::string_view config) {
  const auto words = base::split(config, ':');
  std::int64_t kib = 0;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto size = base::number_from<std::int64_t>(words[i]);
    const auto count = base::number_from<std::int64_t>(words[i + 1]);
    constexpr std::int64_t kLargest = 1 << 20;
    if (!size || !count || *size < 0 || *count < 0 || *size > kLargest || *count > kLargest) break;
    kib += *size * *count;
  }
  return kib > 0 ? std::optional(kib * 1024) : std::nullopt;
}

job::DataType chosen(job::DataType setting, job::DataType automatic) {
  return setting == job::DataType::kAuto ? automatic : setting;
}

std::int64_t bytes_of(job::DataType type) { return type == job::DataType::kFp32 ? 4 : 2; }

}  // namespace

std::int64_t cublas_workspace_bytes(std::string_view gpu, std::string_view config) {
  constexpr std::string_view kHoppers[] = {"H100", "H200", "H800", "H20"};
  constexpr std::int64_t kOfHopper = 32 << 20, kOfOthers = (2 * 4096 + 8 * 16) << 10;
  if (const auto configured = configured_workspace_bytes(config)) return *configured;
  const bool is_hopper = std::ranges::any_of(
      kHoppers, [&](std::string_view name) { return gpu.find(name) != std::string_view::npos; });
  return is_hopper ? kOfHopper : kOfOthers;
}

std::int64_t PlannedJob::loss_chunk() const {
  if (job::is_encoder(shape.layout)) return 0;
  const std::int64_t longest = std::min(settings.sequence_length, shape.longest_sequence());
  return job::loss_chunk_tokens(settings, shape, settings.batch_per_rank * longest);
}

PlannedJob job_on_this_machine(const job::Settings& settings, const job::ModelShape& shape) {
  return {.settings = settings,
          .shape = shape,
          .ranks = settings.ranks,
          .ranks_per_node = settings.ranks,
          .on_gpu = settings.device == job::DeviceChoice::kCuda,
          .widens_bf16 = this_cpu_widens_bf16()};
}

ElementBytes element_bytes(const job::Settings& settings) {
  ElementBytes bytes;
  if (job::strategy_traits(settings.sharding_strategy).has_units) {
    const job::DataType gathered = chosen(settings.param_dtype, job::DataType::kFp32);
    const job::DataType reduced = chosen(settings.reduce_dtype, gathered);
    bytes.gathered = bytes_of(gathered);
    bytes.reduced = bytes_of(reduced);
    bytes.adds_as_reduced = reduced != gathered;
  }
  bytes.autocast = settings.precision != job::Precision::kFp32;
  bytes.residual = bytes.gathered;
  bytes.product = bytes.autocast ? 2 : bytes.gathered;
  return bytes;
}

}  // namespace shardlens::trace::predict
