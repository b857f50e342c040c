// The queues of all threads that record. of_this_thread() may be called from any thread and locks
// only the first time; the rest belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "profiler/queue/event_queue.h"
#include "profiler/queue/records.h"

namespace shardlens::profiler::queue {

struct ThreadQueues {
  ThreadQueues(std::uint64_t token, std::size_t event_capacity, std::size_t row_capacity)
      : thread_token(token), events(event_capacity), rows(row_capacity) {}

  const std::uint64_t thread_token;
  EventQueue<EventRecord> events;
  EventQueue<RowRecord> rows;
};

class QueueRegistry {
 public:
  QueueRegistry(std::size_t event_capacity, std::size_t row_capacity);

  ThreadQueues& of_this_thread();
  // The queues that exist now. They live as long as the registry, also when their thread has ended.
  std::vector<ThreadQueues*> all() const;

 private:
  ThreadQueues& find_or_add(std::uint64_t thread_token);

  const std::uint64_t id_;
  const std::size_t event_capacity_;
  const std::size_t row_capacity_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadQueues>> queues_;
};

}  // namespace shardlens::profiler::queue
