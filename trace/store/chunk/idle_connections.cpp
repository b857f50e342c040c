#include "trace/store/chunk/idle_connections.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shardlens::trace::store {

void IdleConnections::allow(std::size_t most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
}

std::unique_ptr<ChunkConnection> IdleConnections::take(const TraceFile& trace) {
  const std::lock_guard lock(mutex_);
  const auto is_of_it = [&](const Idle& one) { return one.trace == &trace; };
  const auto last = std::find_if(idle_.rbegin(), idle_.rend(), is_of_it);
  if (last == idle_.rend()) return nullptr;
  auto connection = std::move(last->connection);
  idle_.erase(std::prev(last.base()));
  return connection;
}

void IdleConnections::give(std::unique_ptr<ChunkConnection> connection) {
  std::unique_ptr<ChunkConnection> closed;  // once others may go on
  const std::lock_guard lock(mutex_);
  const TraceFile* const trace = connection->trace.get();
  idle_.push_back({trace, std::move(connection)});
  if (idle_.size() <= most_) return;
  closed = std::move(idle_.front().connection);
  idle_.erase(idle_.begin());
}

void IdleConnections::close(const TraceFile& trace) {
  std::vector<Idle> closed;
  const std::lock_guard lock(mutex_);
  const auto is_other = [&](const Idle& one) { return one.trace != &trace; };
  const auto first = std::stable_partition(idle_.begin(), idle_.end(), is_other);
  closed.assign(std::move_iterator(first), std::move_iterator(idle_.end()));
  idle_.erase(first, idle_.end());
}

std::size_t IdleConnections::count() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

}  // namespace shardlens::trace::store
