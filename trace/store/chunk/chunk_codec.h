// Bulk events as compressed columns of varints, starts and correlations as differences, a checksum
// outside. Any thread.
// First the length of part 1 as a varint, then two zstd frames: part 1 holds what pictures and
// statistics want (start, duration, name, flags), part 2 correlation and value. Each begins with
// the lengths of its columns. The checksum is XXH64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"

namespace shardlens::trace::store {

inline constexpr int kChunkCodec = 2;
// Fewer compress badly, more cost memory and time for a reader that wants few of them.
inline constexpr std::size_t kChunkEvents = 8192;
inline constexpr std::size_t kMostChunkEvents = 1u << 20;  // more is damage

// What a chunk holds beside its data.
struct ChunkHeader {
  std::int64_t first_ns = 0;  // earliest start, or end of a reversed event
  std::int64_t last_ns = 0;   // latest end
  std::int64_t count = 0;
  int codec = kChunkCodec;
  std::int64_t checksum = 0;  // of all the above and the data
};

struct Chunk {
  ChunkHeader header;
  std::vector<std::byte> data;
};

// `events`: at most kMostChunkEvents, in order of start (any order is kept, but compresses badly).
class ChunkPacker;
Chunk encode_chunk(std::span<const model::Event> events, ChunkPacker& packer);
// Errors: kDamaged for everything that does not add up.
class ChunkOpener;
base::Result<std::vector<model::Event>> decode_chunk(const ChunkHeader& header,
                                                     std::span<const std::byte> data,
                                                     ChunkOpener& opener);

std::int64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> data);

}  // namespace shardlens::trace::store
