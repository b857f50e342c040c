// The bulk events of a whole run: chunks of all ranks, decoded when they are wanted, by several
// threads, kept in a cache with a limit. Nothing but the wanted blobs is read. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/event_columns.h"
#include "trace/store/chunk/global_names.h"

namespace shardlens::trace::store {

struct EventStoreOptions {
  std::size_t cache_bytes = 128u << 20;
  int threads = 0;  // that decode; 0: as many as there are cores
};

class EventStore {
 public:
  // Opens the ranks' files side by side and reads the chunks' headers, not their data. A file that
  // cannot be opened is left out, and told by problem(), as long as there is another.
  static base::Result<std::unique_ptr<EventStore>> open(const std::filesystem::path& run,
                                                        const EventStoreOptions& options = {});
  ~EventStore();

  // All chunks at this moment, by rank, lane, kind and first_ns. Grows with refresh().
  std::shared_ptr<const std::vector<ChunkEntry>> chunks() const;
  // Of one lane and kind, those that touch [start_ns, end_ns).
  std::vector<ChunkEntry> chunks_in(int rank, int lane, model::EventKind kind,
                                    std::int64_t start_ns, std::int64_t end_ns) const;
  // What was committed since; true if anything was. For live runs.
  bool refresh();

  // From the cache, or decoded on this thread; values are kept of copies only. Errors: kDamaged,
  // naming the place; the same chunk fails again without being read again.
  base::Result<std::shared_ptr<const EventColumns>> load(const ChunkEntry& chunk);
  // The whole events, with correlation and value; not kept.
  base::Result<std::vector<model::Event>> load_whole(const ChunkEntry& chunk);

  // Calls visit(worker, chunk, columns) for each, on all threads at once, each chunk once, in any
  // order; `worker` is below threads(). Stops early when `wanted` says false, which is asked
  // between chunks, by all threads. Chunks that cannot be read are left out and counted.
  struct Visit {
    std::int64_t visited = 0, unreadable = 0;
    bool finished = true;
    std::string problem;  // the first one; "" for none
  };
  Visit visit(std::span<const ChunkEntry> chunks,
              const std::function<void(int, const ChunkEntry&, const EventColumns&)>& visit,
              const std::function<bool()>& wanted = {});
  int threads() const;

  const GlobalNames& names() const;
  // What could not be read of the files, beside the data of single chunks: "" for nothing.
  std::string problem() const;
  std::size_t cached_bytes() const;
  std::int64_t decoded_chunks() const;

 private:
  struct State;
  explicit EventStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace::store
