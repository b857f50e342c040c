// Decoded chunks up to a number of bytes; those not used for longest go first. A chunk that several
// threads want at once is decoded by one of them, the others wait for it. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/model/result.h"
#include "trace/store/chunk_entry.h"
#include "trace/store/event_columns.h"

namespace shardlens::trace {

class ColumnCache {
 public:
  using Value = Result<std::shared_ptr<const EventColumns>>;
  explicit ColumnCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // decode() runs on this thread, with no lock held. What is damaged stays so without another try.
  Value get(const ChunkKey& key, const std::function<Value()>& decode);
  // Those that are there now, in the order of `keys`; null for the others. At one go: for many
  // chunks a lock each would cost as much as what is done with them.
  std::vector<std::shared_ptr<const EventColumns>> find(std::span<const ChunkKey> keys);
  // Drops failures of a file that was opened again.
  void forget_failures(int file);
  std::size_t bytes() const;

 private:
  struct Entry {
    std::optional<Value> value;  // none while it is being decoded
    std::size_t bytes = 0;
    std::list<ChunkKey>::iterator use;  // of what has bytes
  };
  void keep(const ChunkKey& key, Entry& entry);
  void evict();

  const std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable decoded_;
  // Waiting threads hold an entry that was evicted meanwhile.
  std::unordered_map<ChunkKey, std::shared_ptr<Entry>, ChunkKeyHash> entries_;
  std::list<ChunkKey> uses_;  // the latest first
  std::size_t bytes_ = 0;
};

}  // namespace shardlens::trace
