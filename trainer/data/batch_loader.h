// Hands out a rank's training batches on its device. For a GPU a thread of its own puts the next
// ones together meanwhile, in pinned memory that is used again and again, so that the data phase is
// waiting alone. The training thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "trainer/data/batch_stream.h"

namespace shardlens::trainer::data {

class BatchLoader {
 public:
  // `stream` outlives it and is its own from the first next() on.
  BatchLoader(BatchStream& stream, torch::Device device);
  // `prefetches`: for tests, ahead on a CPU, too.
  BatchLoader(BatchStream& stream, torch::Device device, bool prefetches);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // Copies to a GPU are on the current stream, and nobody waits for them. Throws what preparing the
  // batch threw.
  TrainingBatch next();

  // Of what next() has handed out, however far ahead the thread is.
  std::int64_t epoch() const { return position_.epoch; }
  std::int64_t batches_drawn() const { return position_.batches; }
  // Before the first next().
  void go_to(std::int64_t epoch, std::int64_t batches);

 private:
  struct Position {
    std::int64_t epoch = 0, batches = 0;
  };
  // Memory for one batch: filled by the thread, emptied by next().
  struct Slot;
  static constexpr std::size_t kSlots = 2;

  Position drawn() const { return {stream_.epoch(), stream_.batches_drawn()}; }
  void prepare(const std::stop_token& stop);
  void fill(Slot& slot);
  TrainingBatch take(Slot& slot);

  BatchStream& stream_;
  torch::Device device_;
  bool prefetches_;
  Position position_;

  std::mutex mutex_;  // guards what of a slot says whether it is full, and the failure
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::size_t next_slot_ = 0;
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace shardlens::trainer::data
