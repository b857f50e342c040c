// The row of a chunk, without its data. Plain value, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"

namespace shardlens::trace::store {

struct ChunkEntry {
  int rank = 0;
  int lane = 0;
  model::EventKind kind = model::EventKind::kKernel;
  bool makes_sense = false;
  std::int64_t row_id = 0;
  ChunkHeader header;
  int file = 0;  // of the run's files
};

// What tells one chunk from all others. In packed runs the row's number begins with the rank's.
struct ChunkKey {
  int file = 0;
  std::int64_t row_id = 0;
  bool operator==(const ChunkKey&) const = default;
};

struct ChunkKeyHash {
  constexpr std::size_t operator()(const ChunkKey& key) const {
    return static_cast<std::uint64_t>(key.row_id) * 1'000'003 +
           static_cast<std::uint64_t>(key.file);
  }
};

constexpr ChunkKey key_of(const ChunkEntry& chunk) { return {chunk.file, chunk.row_id}; }

}  // namespace shardlens::trace::store
