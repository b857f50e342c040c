// Writes one rank's SQLite file on a thread of its own. submit() may be called from any thread.
// The process must ignore SIGXFSZ (std::signal(SIGXFSZ, SIG_IGN)): otherwise a file size limit
// kills it, instead of ending the recording like a full disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "trace/base/result.h"
#include "trace/model/batch.h"
#include "trace/model/rank_outcome.h"

namespace shardlens::trace::store {

struct TraceWriterOptions {
  std::chrono::milliseconds commit_interval{100};
  std::int64_t size_limit_bytes = INT64_MAX;  // beyond it bulk events and collectives are dropped
  std::size_t queue_capacity = 256;           // batches
};

class TraceWriter {
 public:
  // Creates the file; it must not exist.
  static base::Result<std::unique_ptr<TraceWriter>> create(const std::filesystem::path& file,
                                                           int rank,
                                                           TraceWriterOptions options = {});
  ~TraceWriter();  // as close()

  // Never blocks: when the queue is full the batch's bulk events are counted as lost and the small
  // rows (strings, steps, lanes, …) are kept for the next batch. After a failure to write (disk
  // full) everything is counted as lost, the file stays readable, and failure() says why.
  void submit(model::Batch&& batch);

  // Writes what is queued, commits, checkpoints the WAL, closes. Returns the first failure.
  base::Result<void> close();

  std::int64_t bytes_on_disk() const;
  std::int64_t lost() const;                  // rows and events that this writer could not keep
  model::UnwrittenRecords unwritten() const;  // of them: since failure()
  std::int64_t cpu_ns() const;                // of the writer's thread, so far
  std::string failure() const;                // "" while all is well

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace::store
