#include "trace/analysis/steps/device_progress.h"

#include <algorithm>

#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

namespace {

constexpr std::int64_t kShortestSilence = 500'000'000;

}  // namespace

void DeviceProgress::add(Source source, int lane, std::int64_t end_ns) {
  const auto [at, is_new] = ends_.try_emplace({source, lane}, end_ns);
  if (!is_new) at->second = std::max(at->second, end_ns);
}

std::int64_t DeviceProgress::longest_silence_ns(std::int64_t step_ns, DeviceRecords records) {
  const bool is_all = records != DeviceRecords::kGoOn && step_ns > 0;
  return is_all ? 2 * step_ns : std::max(kShortestSilence, 2 * step_ns);
}

void DeviceProgress::settle(std::int64_t silence_ns) {
  std::int64_t latest = INT64_MIN;
  for (const auto& [lane, end_ns] : ends_) latest = std::max(latest, end_ns);
  std::int64_t until = latest;
  for (const auto& [lane, end_ns] : ends_) {
    const bool is_silent = base::saturated_difference(latest, end_ns) > silence_ns;
    if (!is_silent) until = std::min(until, end_ns);
  }
  until_ns_ = std::max(until_ns_, until);
}

}  // namespace shardlens::trace::analysis
