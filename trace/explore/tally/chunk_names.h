// Which names a chunk holds, how often and how long, kept when the chunk was once decoded: a search
// then skips chunks without reading them. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/store/chunk/event_store.h"

namespace shardlens::trace::explore {

class ChunkNames {
 public:
  struct NameCount {
    std::uint32_t name = 0;  // of all ranks
    std::uint32_t count = 0;
    std::int64_t total_ns = 0;
  };
  using Counts = std::vector<NameCount>;

  // `store` outlives this.
  explicit ChunkNames(store::EventStore& store) : store_(store) {}

  // Reads those of the chunks that were not read before; the counts of each, in the same order,
  // null for what cannot be read or begins later. Of a chunk that goes on at `until_ns` only what
  // begins before it. False for `wanted` leaves nulls, too, and `finished` false.
  struct Found {
    std::vector<std::shared_ptr<const Counts>> counts;
    bool finished = true;
  };
  Found of(std::span<const store::ChunkEntry> chunks, const std::function<bool()>& wanted,
           std::int64_t until_ns = INT64_MAX);
  // What is kept of a run, and begun with.
  struct OfChunk {
    int file = 0;
    std::int64_t row_id = 0;
    Counts counts;
  };
  std::vector<OfChunk> known() const;
  void restore(std::vector<OfChunk> chunks);

  // A chunk that somebody else has decoded. `numbers`: GlobalNames::numbers() of its rank.
  void note(const store::ChunkEntry& chunk, const store::EventColumns& columns,
            std::span<const std::uint32_t> numbers);

 private:
  // One worker's sums by string id, all 0 between chunks.
  struct Sums {
    std::vector<NameCount> by_id;
    std::vector<std::uint32_t> ids, seen;
    std::vector<std::int64_t> durations;
  };
  static std::shared_ptr<const Counts> counted(const store::EventColumns& columns,
                                               std::span<const std::uint32_t> numbers,
                                               std::int64_t until_ns, Sums& sums);
  Found read(std::span<const store::ChunkEntry> chunks, const std::function<bool()>& wanted,
             std::int64_t until_ns);

  store::EventStore& store_;
  mutable std::mutex mutex_;                 // of what follows
  std::vector<std::unique_ptr<Sums>> idle_;  // as many as there were threads at once
  std::unordered_map<store::ChunkKey, std::shared_ptr<const Counts>, store::ChunkKeyHash> known_;
};

// By string id of a rank: whether its name is among `names` of all ranks.
std::vector<bool> ids_of_names(const store::EventStore& store, int rank,
                               const std::vector<bool>& names);
bool holds_any(const ChunkNames::Counts& counts, const std::vector<bool>& names);

}  // namespace shardlens::trace::explore
