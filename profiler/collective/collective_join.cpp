#include "profiler/collective/collective_join.h"

#include <algorithm>
#include <utility>

#include "profiler/collective/collective_row.h"
#include "trace/model/collective_fields.h"

namespace shardlens::profiler::collective {
namespace {

// The queues are drained every 50 ms: a part that is missing for so long was lost.
constexpr std::int64_t kOrphanAfterNs = 10'000'000'000;

trace::model::Collective to_row(int rank, const queue::CollectiveEntered& entered) {
  trace::model::Collective row = row_of(rank, entered.call);
  trace::model::set_entry(row, entered);
  return row;
}

trace::model::PendingCollective to_pending(int rank, const queue::CollectiveEntered& entered) {
  trace::model::PendingCollective row;
  row.rank = rank;
  trace::model::set_call(row, entered.call);
  trace::model::set_entry(row, entered);
  return row;
}

// Sends and receives have no number; handles grow as they are entered.
bool is_numbered(const queue::CollectiveCall& call) { return call.sequence >= 0; }

queue::CollectiveTimes around(const std::optional<queue::CollectiveTimes>& known,
                              const queue::CollectiveTimes& more) {
  if (!known) return more;
  return {known->lane, std::min(known->start_ns, more.start_ns),
          std::max(known->end_ns, more.end_ns)};
}

}  // namespace

void CollectiveJoin::add(const queue::CollectiveEntered& entered, std::int64_t now_ns) {
  Parts& parts = parts_of(entered.handle, now_ns);
  parts.entered = entered;
  latest_seen_ns_[entered.call.process_group] = now_ns;
  note_complete(entered.handle, parts);
}

void CollectiveJoin::add(const queue::CollectiveStarted& started, std::int64_t now_ns) {
  parts_of(started.handle, now_ns).started = started;
}

void CollectiveJoin::add(const queue::CollectiveEnded& ended, std::int64_t now_ns) {
  Parts& parts = parts_of(ended.handle, now_ns);
  parts.ended = ended;
  note_complete(ended.handle, parts);
}

void CollectiveJoin::add(const queue::CollectiveLaunched& launched, std::int64_t now_ns) {
  Parts& parts = parts_of(launched.handle, now_ns);
  if (!parts.chosen) parts.chosen = launched.launch;
  if (launched.launch.launch == 0) return;
  ++parts.launches;
  parts.latest_launch = std::max(parts.latest_launch, launched.launch.launch);
  const auto kernel = kernels_.find(launched.launch.launch);
  if (kernel != kernels_.end()) {
    parts.kernels = around(parts.kernels, kernel->second.times);
  } else {
    ++parts.kernels_to_come;
    launched_.emplace(launched.launch.launch, launched.handle);
  }
  note_complete(launched.handle, parts);
}

void CollectiveJoin::add(const queue::LaunchEnded& ended, std::int64_t now_ns) {
  kernels_.try_emplace(ended.launch, Kernel{ended.times, now_ns});
  latest_kernel_ = std::max(latest_kernel_, ended.launch);
  const auto [first, last] = launched_.equal_range(ended.launch);
  for (auto entry = first; entry != last; ++entry) {
    const auto found = parts_.find(entry->second);
    if (found == parts_.end()) continue;
    Parts& parts = found->second;
    parts.kernels = around(parts.kernels, ended.times);
    --parts.kernels_to_come;
    note_complete(entry->second, parts);
  }
  launched_.erase(first, last);
}

void CollectiveJoin::add(const queue::CollectiveObserved& observed, std::int64_t now_ns) {
  Parts& parts = parts_of(observed.handle, now_ns);
  parts.observed = observed.times;
  parts.observed_at_ns = now_ns;
  note_complete(observed.handle, parts);
}

CollectiveJoin::Parts& CollectiveJoin::parts_of(std::uint64_t handle, std::int64_t now_ns) {
  Parts& parts = parts_[handle];
  if (parts.first_seen_ns == 0) parts.first_seen_ns = now_ns;
  return parts;
}

void CollectiveJoin::note_complete(std::uint64_t handle, Parts& parts) {
  if (!parts.entered || !parts.has_ended() || std::exchange(parts.is_listed, true)) return;
  complete_.push_back(handle);
}

bool CollectiveJoin::is_settled(Parts& parts, std::int64_t now_ns) const {
  if (!parts.has_ended()) return false;  // launched once more
  if (parts.ended && parts.started) return true;
  if (parts.launches > 0 && parts.kernels_to_come == 0) return true;
  if (parts.observed && !parts.ended) {
    if (!waits_for_kernels_) return true;
    if (parts.launches > 0) return lacks_kernels(parts, now_ns);
  }
  // Another thread's part may be in a queue that was drained before.
  return std::exchange(parts.waited, true);
}

bool CollectiveJoin::lacks_kernels(const Parts& parts, std::int64_t now_ns) const {
  const bool later_one_came = latest_kernel_ > parts.latest_launch;
  const bool is_short = later_one_came || complete_.size() > kMostWaiting;
  return now_ns - parts.observed_at_ns >= (is_short ? kKernelLimitNs : kLongestKernelLimitNs);
}

void CollectiveJoin::finish(std::uint64_t handle, const Parts& parts, Finished& finished) {
  trace::model::Collective row = to_row(rank_, *parts.entered);
  if (parts.chosen) set_launch(row, *parts.chosen);
  if (parts.ended) {
    const std::int64_t start_ns = parts.started ? parts.started->start_ns : row.enqueued_ns;
    set_times(row, {parts.started ? parts.started->lane : 0, start_ns, parts.ended->end_ns});
  } else {
    const bool is_complete = parts.launches > 0 && parts.kernels_to_come == 0;
    set_times(row, is_complete ? *parts.kernels : *parts.observed);
  }
  Latest& latest = latest_ended_[row.process_group];
  const bool is_latest = row.sequence >= latest.sequence;
  latest.sequence = std::max(latest.sequence, row.sequence);
  latest.handle = std::max(latest.handle, handle);
  if (has_detail_ ? has_detail_(row.start_ns) : parts.entered->detail) {
    finished.collectives.push_back(row);
    if (is_latest) latest_undetailed_.erase(row.process_group);
  } else {
    ++finished.undetailed;
    if (is_latest) {
      auto& last = latest_undetailed_[row.process_group] = to_pending(rank_, *parts.entered);
      last.end_ns = row.end_ns;
    }
  }
}

CollectiveJoin::Finished CollectiveJoin::take_finished(std::int64_t now_ns) {
  Finished finished;
  std::vector<std::uint64_t> waiting;
  for (const std::uint64_t handle : complete_) {
    const auto found = parts_.find(handle);
    if (found == parts_.end()) continue;
    if (!is_settled(found->second, now_ns)) {
      waiting.push_back(handle);
      continue;
    }
    finish(handle, found->second, finished);
    parts_.erase(found);
  }
  complete_ = std::move(waiting);
  return finished;
}

std::vector<trace::model::PendingCollective> CollectiveJoin::pending() const {
  std::vector<trace::model::PendingCollective> rows;
  for (const auto& [handle, parts] : parts_) {
    if (!parts.entered || parts.has_ended()) continue;
    rows.push_back(to_pending(rank_, *parts.entered));
  }
  return rows;
}

std::vector<trace::model::PendingCollective> CollectiveJoin::latest_undetailed() const {
  std::vector<trace::model::PendingCollective> rows;
  for (const auto& [group, row] : latest_undetailed_) rows.push_back(row);
  return rows;
}

bool CollectiveJoin::is_overtaken(std::uint64_t handle, const queue::CollectiveCall& call) const {
  const auto latest = latest_ended_.find(call.process_group);
  if (latest == latest_ended_.end()) return false;
  return is_numbered(call) ? latest->second.sequence > call.sequence
                           : latest->second.handle > handle;
}

bool CollectiveJoin::is_left_behind(const Parts& parts) const {
  const auto latest = latest_seen_ns_.find(parts.entered->call.process_group);
  return latest != latest_seen_ns_.end() && latest->second - parts.first_seen_ns > kAheadLimitNs;
}

// Another thread's end may be in a queue that was drained before: it gets one drain more. A kernel
// is reported late, and not always in order; nothing else ends what was only left behind.
bool CollectiveJoin::is_lost(std::uint64_t handle, Parts& parts, std::int64_t now_ns) const {
  if (!parts.entered || parts.has_ended()) return false;
  const queue::CollectiveCall& call = parts.entered->call;
  const bool overtaken = is_overtaken(handle, call);
  if (!overtaken && !is_left_behind(parts)) return false;
  if (parts.behind_ns == 0) {
    parts.behind_ns = now_ns;
    return false;
  }
  const bool waits_for_kernel = !overtaken || parts.launches > 0 || !is_numbered(call);
  return !waits_for_kernel || now_ns - parts.behind_ns >= kKernelLimitNs;
}

void CollectiveJoin::forget_launches(std::int64_t now_ns) {
  std::erase_if(kernels_, [now_ns](const auto& entry) {
    return now_ns - entry.second.since_ns > kKernelLimitNs;
  });
  std::erase_if(launched_, [this](const auto& entry) { return !parts_.contains(entry.second); });
}

std::int64_t CollectiveJoin::drop_incomplete(std::int64_t now_ns) {
  forget_launches(now_ns);
  std::int64_t dropped = 0;
  for (auto entry = parts_.begin(); entry != parts_.end();) {
    Parts& parts = entry->second;
    const bool is_orphan = !parts.entered && now_ns - parts.first_seen_ns > kOrphanAfterNs;
    if (is_orphan || is_lost(entry->first, parts, now_ns)) {
      entry = parts_.erase(entry);
      ++dropped;
    } else {
      ++entry;
    }
  }
  return dropped;
}

}  // namespace shardlens::profiler::collective
