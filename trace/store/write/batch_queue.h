// Batches on their way to the writer's thread. Never blocks and never grows without limit: when it
// is full, bulk events are dropped and counted, small rows join the last batch. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "trace/model/batch.h"
#include "trace/model/rank_outcome.h"

namespace shardlens::trace::store {

// Without events, and without those that replace each other.
std::int64_t count_rows(const model::Batch& batch);
// Rows and events by kind; what was counted as lost before is no loss of its own.
model::UnwrittenRecords count_by_kind(const model::Batch& batch);
// Moves everything of `from` behind what `to` has.
void append(model::Batch& to, model::Batch&& from);

class BatchQueue {
 public:
  explicit BatchQueue(std::size_t capacity) : capacity_(capacity > 0 ? capacity : 1) {}

  // Returns how many events and rows were dropped.
  std::int64_t push(model::Batch&& batch);
  // Waits until `deadline`, until the queue is half full or closed; empty: nothing came.
  std::vector<model::Batch> take(std::chrono::steady_clock::time_point deadline);
  void close();
  bool closed() const;

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<model::Batch> batches_;
  std::int64_t rows_ = 0;
  bool closed_ = false;
};

}  // namespace shardlens::trace::store
