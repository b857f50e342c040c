#include "trainer/loop/memory_failure.h"

#include <c10/core/AllocatorConfig.h>

#include <algorithm>
#include <cstdlib>

#include "trace/base/text.h"
#include "trace/base/words/quantity.h"
#include "trace/job/shape/lora.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/predict/plan/remedies.h"

namespace shardlens::trainer::loop {

namespace {

using trace::base::bytes_text;

constexpr std::size_t kMostRemedies = 3;

std::int64_t outside_of(const trace::model::MemorySample& sample) {
  return sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)];
}

std::string held_text(const trace::model::MemorySample& held) {
  std::string parts;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<trace::model::MemoryCategory>(i);
    const std::int64_t bytes = held.bytes[static_cast<std::size_t>(i)];
    if (category == trace::model::MemoryCategory::kOutside || bytes == 0) continue;
    parts += (parts.empty() ? "" : ", ") + std::string(trace::model::to_string(category)) + " " +
             bytes_text(bytes);
  }
  const std::int64_t total = held.total_bytes() - outside_of(held);
  return bytes_text(total) + (parts.empty() ? "" : " (" + parts + ")");
}

// What the caching allocator holds in pieces that were too small, where that would have sufficed.
std::string unused_text(const FailedAllocation& failed) {
  const std::int64_t unused =
      failed.held.reserved_bytes - (failed.held.total_bytes() - outside_of(failed.held));
  if (unused <= 0 || unused < failed.asked_bytes) return "";
  return "; " + bytes_text(unused) + " more are reserved but in pieces" +
         (c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments()
              ? ""
              : ": allocator_conf=expandable_segments:True joins them");
}

// Where the job itself is estimated to fit, the estimate lacks something: then what lowers it most
// comes first.
std::string remedies_text(const trace::predict::PlannedJob& job, std::int64_t usable) {
  if (!trace::job::are_blocks_adapted_alike(job.shape, job.settings)) {
    return "What would need less is not estimated where some blocks alone have adapters.";
  }
  const std::int64_t peak = trace::predict::predict_peak_bytes(job);
  const bool fits = peak <= usable;
  auto remedies = trace::predict::changes_that_would_fit(job, fits ? peak - 1 : usable);
  if (fits) std::ranges::stable_sort(remedies, {}, &trace::predict::Remedy::peak_bytes);
  const std::string aim = fits ? "need less" : "fit into " + bytes_text(usable);
  const std::string text = fits ? "The job is estimated to need " + bytes_text(peak) +
                                      ", which fits into " + bytes_text(usable) + ". "
                                : "";
  if (remedies.empty()) {
    return text + "No change of strategy, recomputation, batch or offload is estimated to " + aim +
           "; choose a smaller model, a shorter sequence_length or more ranks.";
  }
  if (remedies.size() > kMostRemedies) remedies.resize(kMostRemedies);
  const auto named = [](const trace::predict::Remedy& remedy) {
    return remedy.text() + " (peak " + bytes_text(remedy.peak_bytes) + ")";
  };
  return text + "Estimated to " + aim + ": " + trace::base::joined(remedies, "; ", named) + ".";
}

}  // namespace

std::int64_t asked_bytes(std::string_view message) {
  constexpr std::string_view kWords = "ried to allocate ";
  const auto at = message.find(kWords);
  if (at == std::string_view::npos) return 0;
  const std::string rest(message.substr(at + kWords.size()));
  char* end = nullptr;
  double value = std::strtod(rest.c_str(), &end);
  const std::string unit(end, std::min<std::size_t>(rest.c_str() + rest.size() - end, 6));
  std::int64_t bytes_of_unit = 1;
  for (const char* const each : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    bytes_of_unit *= 1024;
    if (unit.find(each) != std::string::npos) value *= static_cast<double>(bytes_of_unit);
  }
  return static_cast<std::int64_t>(value);
}

std::optional<FailedAllocation> failed_allocation(torch::Device device, std::string_view message) {
  if (auto failed = last_failed_allocation(device); failed || device.is_cpu()) return failed;
  const std::int64_t asked = asked_bytes(message);
  if (asked == 0) return std::nullopt;
  return FailedAllocation{asked, memory_source(device).take_peak()};
}

std::string explain_out_of_memory(const FailedAllocation& failed,
                                  const trace::predict::PlannedJob& job, const std::string& unit) {
  const std::int64_t held = failed.held.total_bytes() - outside_of(failed.held);
  const std::int64_t usable = job.on_gpu && failed.held.device_total_bytes > 0
                                  ? failed.held.device_total_bytes - outside_of(failed.held)
                                  : held;
  return "out of memory" + (unit.empty() ? "" : " in " + unit) + ": asked for " +
         bytes_text(failed.asked_bytes) + " beside " + held_text(failed.held) +
         unused_text(failed) + ". " + remedies_text(job, usable);
}

}  // namespace shardlens::trainer::loop
