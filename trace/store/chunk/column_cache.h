// Decoded chunks up to a number of bytes; those not used for longest go first. A chunk that several
// threads want at once is decoded by one of them, the others wait for it. Any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/event_columns.h"
#include "trace/store/chunk/recently_used.h"

namespace shardlens::trace::store {

class ColumnCache {
 public:
  using Value = base::Result<std::shared_ptr<const EventColumns>>;
  explicit ColumnCache(std::size_t limit_bytes) : kept_(limit_bytes) {}

  // decode() runs on this thread, with no lock held. What is damaged stays so without another try.
  Value get(const ChunkKey& key, const std::function<Value()>& decode);
  // Those that are there now, in the order of `keys`; null for the others. At one go: for many
  // chunks a lock each would cost as much as what is done with them.
  std::vector<std::shared_ptr<const EventColumns>> find(std::span<const ChunkKey> keys);
  // Drops failures of a file that was opened again.
  void forget_failures(int file);
  std::size_t bytes() const;

 private:
  using Entry = std::optional<Value>;  // none while it is being decoded
  void keep(const ChunkKey& key, const Value& value);

  mutable std::mutex mutex_;
  std::condition_variable decoded_;
  // What is being decoded, which waiting threads hold, too, and what cannot be.
  std::unordered_map<ChunkKey, std::shared_ptr<Entry>, ChunkKeyHash> entries_;
  RecentlyUsed<ChunkKey, std::shared_ptr<const EventColumns>, ChunkKeyHash> kept_;
};

}  // namespace shardlens::trace::store
