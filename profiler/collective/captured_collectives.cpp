#include "profiler/collective/captured_collectives.h"

#include <algorithm>
#include <utility>

#include "profiler/collective/collective_row.h"

namespace shardlens::profiler::collective {

std::int64_t CapturedCollectives::sequence_of(std::int64_t index,
                                              const queue::CollectiveReplay& replay) {
  if (index < 0 || index >= kMostOfLaunch || replay.place < 0 || replay.place >= kMostLaunches ||
      replay.number < 0)
    return -1;
  return (replay.number * kMostLaunches + replay.place) * kMostOfLaunch + index;
}

void CapturedCollectives::add(const queue::CollectiveCaptured& captured) {
  Captured& known = captured_of(captured.handle);
  known.is_known = true;
  known.call = captured.call;
}

void CapturedCollectives::add(const queue::CapturedLaunched& launched) {
  Captured& captured = captured_of(launched.handle);
  if (launched.launch.launch != 0) carry(launched.handle, captured, launched.launch.launch);
  if (launched.launch.channels == 0) return;
  captured.launch.algorithm = launched.launch.algorithm;
  captured.launch.protocol = launched.launch.protocol;
  captured.launch.channels = launched.launch.channels;
}

void CapturedCollectives::add(const queue::CollectiveReplay& replay, std::int64_t now_ns) {
  replays_.push_back({replay, now_ns});
}

std::vector<trace::model::Collective> CapturedCollectives::take_finished(std::int64_t now_ns) {
  std::vector<trace::model::Collective> rows;
  for (const Waiting& waiting : std::exchange(replays_, {})) {
    const bool is_done = make_rows(waiting.replay, rows);
    if (!is_done && now_ns - waiting.since_ns < kReplayLimitNs) replays_.push_back(waiting);
  }
  return rows;
}

CapturedCollectives::Captured& CapturedCollectives::captured_of(std::uint64_t handle) {
  if (captured_.size() >= kMostCaptured && !captured_.contains(handle)) {
    const auto oldest = captured_.begin();
    carry(oldest->first, oldest->second, queue::CollectiveLaunch::kNotFound);
    captured_.erase(oldest);
  }
  return captured_[handle];
}

void CapturedCollectives::carry(std::uint64_t handle, Captured& captured, std::uint64_t launch) {
  const auto [first, last] = by_launch_.equal_range(captured.launch.launch);
  const auto before =
      std::find_if(first, last, [&](const auto& entry) { return entry.second == handle; });
  if (before != last) by_launch_.erase(before);
  captured.launch.launch = launch;
  if (launch != queue::CollectiveLaunch::kNotFound) by_launch_.emplace(launch, handle);
}

bool CapturedCollectives::make_rows(const queue::CollectiveReplay& replay,
                                    std::vector<trace::model::Collective>& rows) const {
  const auto [first, last] = by_launch_.equal_range(replay.launch);
  const bool all_are_known = std::all_of(
      first, last, [this](const auto& entry) { return captured_.at(entry.second).is_known; });
  if (first == last || !all_are_known) return false;
  for (auto entry = first; entry != last; ++entry)
    rows.push_back(row_of(captured_.at(entry->second), replay));
  return true;
}

trace::model::Collective CapturedCollectives::row_of(const Captured& captured,
                                                     const queue::CollectiveReplay& replay) const {
  trace::model::Collective row = profiler::collective::row_of(rank_, captured.call);
  row.sequence = sequence_of(captured.call.sequence, replay);
  row.enqueued_ns = replay.called_ns;
  set_launch(row, captured.launch);
  set_times(row, {replay.lane, replay.start_ns, replay.end_ns});
  return row;
}

}  // namespace shardlens::profiler::collective
