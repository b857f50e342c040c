// Bulk events as compressed columns of varints, starts and correlations as differences, a checksum
// outside.
// First the length of part 1 as a varint, then two zstd frames: part 1 holds what pictures and
// statistics want (start, duration, name, flags), part 2 correlation and value. Each begins with
// the lengths of its columns. The checksum is XXH64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/varint.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

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

// The row of a chunk, without its data.
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

struct Chunk {
  ChunkHeader header;
  std::vector<std::byte> data;
};

// In the order in which they are stored.
enum class ChunkColumn : std::uint8_t { kStart, kDuration, kName, kFlags, kCorrelation, kValue };
inline constexpr int kChunkColumns = 6;
inline constexpr int kFirstPartColumns = 4;  // up to the flags

// Compresses the columns of chunks, one after the other in the same memory. One thread at a time.
class ChunkPacker {
 public:
  ChunkPacker();

  // The data of a chunk; the first start is stored as its distance from `first_ns`. Valid until
  // the next call.
  std::span<const std::byte> pack(std::span<const model::Event> events, std::int64_t first_ns);

 private:
  using Columns = std::pair<int, int>;  // the first, and the one behind the last
  std::size_t pack_frame(std::span<const model::Event> events, std::int64_t first_ns,
                         Columns columns, std::size_t at);

  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  // A new one for each chunk would ask the processor what it can do, which a hypervisor answers:
  // an eighth of all time.
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::vector<std::byte> plain_, packed_;
};

// Checks and decompresses chunks, one after the other in the same memory. One thread at a time.
class ChunkOpener {
 public:
  // Valid until the next open().
  struct Columns {
    std::array<VarintReader, kChunkColumns> columns{};
    VarintReader& operator[](ChunkColumn column) {
      return columns[static_cast<std::size_t>(column)];
    }
    // Whether what was read of a column was all of it.
    bool ends(ChunkColumn column) const {
      const VarintReader& one = columns[static_cast<std::size_t>(column)];
      return one.ok && one.position == one.end;
    }
  };

  // Errors: kDamaged for everything that does not add up. Of the first
  // part's columns alone the others may be empty.
  enum class Part : std::uint8_t { kFirst, kAll };
  base::Result<Columns> open(const ChunkHeader& header, std::span<const std::byte> data, Part part);

 private:
  using Readers = std::span<VarintReader>;
  base::Result<void> open_parts(std::span<const std::byte> data, std::size_t count, Part part,
                                Readers columns);
  base::Result<void> open_frame(std::span<const std::byte> data, std::size_t count,
                                std::vector<std::byte>& plain, Readers columns);

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;  // with the first chunk: many readers never see one
  std::vector<std::byte> plain_, second_plain_;
};

// `events`: at most kMostChunkEvents, in order of start (any order is kept, but compresses badly).
Chunk encode_chunk(std::span<const model::Event> events, ChunkPacker& packer);
// Errors: kDamaged for everything that does not add up.
base::Result<std::vector<model::Event>> decode_chunk(const ChunkHeader& header,
                                                     std::span<const std::byte> data,
                                                     ChunkOpener& opener);

std::int64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> data);
tl::unexpected<base::Error> damaged_chunk(const char* why);

}  // namespace shardlens::trace::store
