#include "profiler/queue/thread_queues.h"

#include <atomic>

namespace shardlens::profiler::queue {
namespace {

// Addresses and std::thread::ids are reused; these numbers are not, so that a queue never gets a
// second producer and a registry at a reused address never finds another's queue.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

QueueRegistry::QueueRegistry(std::size_t event_capacity, std::size_t row_capacity)
    : id_(next_number()), event_capacity_(event_capacity), row_capacity_(row_capacity) {}

ThreadQueues& QueueRegistry::of_this_thread() {
  thread_local const std::uint64_t thread_token = next_number();
  thread_local std::uint64_t last_registry = 0;
  thread_local ThreadQueues* last_queues = nullptr;
  if (last_registry != id_) {
    last_queues = &find_or_add(thread_token);
    last_registry = id_;
  }
  return *last_queues;
}

ThreadQueues& QueueRegistry::find_or_add(std::uint64_t thread_token) {
  const std::lock_guard lock(mutex_);
  for (const auto& queues : queues_)
    if (queues->thread_token == thread_token) return *queues;
  queues_.push_back(std::make_unique<ThreadQueues>(thread_token, event_capacity_, row_capacity_));
  return *queues_.back();
}

std::vector<ThreadQueues*> QueueRegistry::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<ThreadQueues*> result;
  result.reserve(queues_.size());
  for (const auto& queues : queues_) result.push_back(queues.get());
  return result;
}

}  // namespace shardlens::profiler::queue
