#include "profiler/collective_join.h"

#include <algorithm>
#include <utility>

namespace shardlens::profiler {
namespace {

// The queues are drained every 50 ms: a part that is missing for so long was lost.
constexpr std::int64_t kOrphanAfterNs = 10'000'000'000;

trace::Collective to_row(int rank, const CollectiveEntered& entered,
                         const std::optional<CollectiveStarted>& started, std::int64_t end_ns) {
  trace::Collective row;
  row.rank = rank;
  row.step = entered.step;
  row.process_group = entered.call.process_group;
  row.sequence = entered.call.sequence;
  row.function = entered.call.function;
  row.executed = entered.call.executed;
  row.tag_kind = entered.call.tag_kind;
  row.tag_index = entered.call.tag_index;
  row.tag_name = entered.call.tag_name;
  row.phase = entered.phase;
  row.data_type = entered.call.data_type;
  row.bytes = entered.call.bytes;
  row.enqueued_ns = entered.enqueued_ns;
  row.lane = started ? started->lane : 0;
  row.start_ns = started ? started->start_ns : entered.enqueued_ns;
  row.end_ns = std::max(end_ns, row.start_ns);
  return row;
}

}  // namespace

void CollectiveJoin::add(const CollectiveEntered& entered, std::int64_t now_ns) {
  Parts& parts = parts_of(entered.handle, now_ns);
  parts.entered = entered;
  note_complete(entered.handle, parts);
}

void CollectiveJoin::add(const CollectiveStarted& started, std::int64_t now_ns) {
  parts_of(started.handle, now_ns).started = started;
}

void CollectiveJoin::add(const CollectiveEnded& ended, std::int64_t now_ns) {
  Parts& parts = parts_of(ended.handle, now_ns);
  parts.ended = ended;
  note_complete(ended.handle, parts);
}

CollectiveJoin::Parts& CollectiveJoin::parts_of(std::uint64_t handle, std::int64_t now_ns) {
  Parts& parts = parts_[handle];
  if (parts.first_seen_ns == 0) parts.first_seen_ns = now_ns;
  return parts;
}

void CollectiveJoin::note_complete(std::uint64_t handle, const Parts& parts) {
  if (parts.entered && parts.ended) complete_.push_back(handle);
}

void CollectiveJoin::finish(const Parts& parts, Finished& finished) {
  const trace::Collective row = to_row(rank_, *parts.entered, parts.started, parts.ended->end_ns);
  auto& latest = latest_ended_.try_emplace(row.process_group, row.sequence).first->second;
  const bool is_latest = row.sequence >= latest;
  latest = std::max(latest, row.sequence);
  if (parts.entered->detail) {
    finished.collectives.push_back(row);
    if (is_latest) latest_undetailed_.erase(row.process_group);
  } else {
    ++finished.undetailed;
    if (is_latest) latest_undetailed_[row.process_group] = row;
  }
}

CollectiveJoin::Finished CollectiveJoin::take_finished() {
  Finished finished;
  std::vector<std::uint64_t> waiting;
  for (const std::uint64_t handle : complete_) {
    const auto found = parts_.find(handle);
    Parts& parts = found->second;
    // Another thread's start may be in a queue that was drained before the one with the end.
    if (!parts.started && !std::exchange(parts.waited, true)) {
      waiting.push_back(handle);
      continue;
    }
    finish(parts, finished);
    parts_.erase(found);
  }
  complete_ = std::move(waiting);
  return finished;
}

std::vector<trace::PendingCollective> CollectiveJoin::pending() const {
  std::vector<trace::PendingCollective> rows;
  for (const auto& [handle, parts] : parts_) {
    if (!parts.entered || parts.ended) continue;
    const auto& [_, call, phase, detail, step, enqueued_ns] = *parts.entered;
    trace::PendingCollective row;
    row.rank = rank_;
    row.process_group = call.process_group;
    row.sequence = call.sequence;
    row.function = call.function;
    row.tag_kind = call.tag_kind;
    row.tag_index = call.tag_index;
    row.tag_name = call.tag_name;
    row.phase = phase;
    row.step = step;
    row.bytes = call.bytes;
    row.enqueued_ns = enqueued_ns;
    rows.push_back(row);
  }
  return rows;
}

std::vector<trace::Collective> CollectiveJoin::take_latest_undetailed() {
  std::vector<trace::Collective> rows;
  for (const auto& [group, row] : std::exchange(latest_undetailed_, {})) rows.push_back(row);
  return rows;
}

// Another thread's end may be in a queue that was drained before: it gets one drain more.
bool CollectiveJoin::is_overtaken(Parts& parts) const {
  if (!parts.entered || parts.ended || parts.entered->call.sequence < 0) return false;
  const auto latest = latest_ended_.find(parts.entered->call.process_group);
  if (latest == latest_ended_.end() || latest->second <= parts.entered->call.sequence) return false;
  return std::exchange(parts.overtaken, true);
}

std::int64_t CollectiveJoin::drop_incomplete(std::int64_t now_ns) {
  std::int64_t dropped = 0;
  for (auto entry = parts_.begin(); entry != parts_.end();) {
    Parts& parts = entry->second;
    const bool is_orphan = !parts.entered && now_ns - parts.first_seen_ns > kOrphanAfterNs;
    if (is_orphan || is_overtaken(parts)) {
      entry = parts_.erase(entry);
      ++dropped;
    } else {
      ++entry;
    }
  }
  return dropped;
}

}  // namespace shardlens::profiler
