#include "trace/analysis/steps/device_progress.h"

#include <algorithm>

#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

namespace {

constexpr std::int64_t kShortestSilence = 500'000'000;
// Where details are recorded of some steps only, nothing of theirs comes so long after them.
constexpr std::int64_t kLongestDelay = 10'000'000'000;

}  // namespace

DeviceRecords device_records(std::string_view device, bool is_closed, model::RunStatus status,
                             bool more_follows) {
  if (!device.starts_with("cuda")) return DeviceRecords::kNone;
  // Imports, and what was recorded before files said so: all ranks of a run that is done have left
  // in order. Of one that was stopped some may have been killed.
  if (is_closed || (status == model::RunStatus::kDone && !more_follows)) {
    return DeviceRecords::kHaveEnded;
  }
  return more_follows ? DeviceRecords::kGoOn : DeviceRecords::kBrokeOff;
}

void DeviceProgress::add(Source source, int lane, std::int64_t end_ns) {
  const auto [at, is_new] = ends_.try_emplace({source, lane}, end_ns);
  if (!is_new) at->second = std::max(at->second, end_ns);
}

void DeviceProgress::add(const model::Step& step) {
  step_ns_ = step.end_ns - step.start_ns;
  steps_end_ns_ = std::max(steps_end_ns_, step.end_ns);
  if (step.full_detail) detailed_end_ns_ = std::max(detailed_end_ns_, step.end_ns);
}

void DeviceProgress::settle(DeviceRecords records) {
  const bool is_all = records != DeviceRecords::kGoOn && step_ns_ > 0;
  const std::int64_t silence_ns = is_all ? 2 * step_ns_ : std::max(kShortestSilence, 2 * step_ns_);
  std::int64_t latest = INT64_MIN;
  for (const auto& [lane, end_ns] : ends_) latest = std::max(latest, end_ns);
  std::int64_t until = latest;
  for (const auto& [lane, end_ns] : ends_) {
    const bool is_silent = base::saturated_difference(latest, end_ns) > silence_ns;
    if (!is_silent) until = std::min(until, end_ns);
  }
  const bool is_over = base::saturated_difference(steps_end_ns_, detailed_end_ns_) > kLongestDelay;
  if (is_over) until = std::max(until, detailed_end_ns_);
  until_ns_ = std::max(until_ns_, until);
}

std::int64_t DeviceProgress::steps_known_until_ns() const {
  return detailed_end_ns_ <= until_ns_ ? std::max(until_ns_, steps_end_ns_) : until_ns_;
}

}  // namespace shardlens::trace::analysis
