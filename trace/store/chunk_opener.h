// Checks and decompresses chunks, one after the other in the same memory. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "trace/model/result.h"
#include "trace/store/chunk_codec.h"
#include "trace/store/varint.h"

struct ZSTD_DCtx_s;

namespace shardlens::trace {

// In the order in which they are stored.
enum class ChunkColumn : std::uint8_t { kStart, kDuration, kName, kFlags, kCorrelation, kValue };
inline constexpr int kChunkColumns = 6;

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

  ChunkOpener();
  ~ChunkOpener();
  ChunkOpener(ChunkOpener&&) noexcept;
  ChunkOpener& operator=(ChunkOpener&&) noexcept;

  // Errors: kNewer for an unknown codec, kDamaged for everything that does not add up.
  Result<Columns> open(const ChunkHeader& header, std::span<const std::byte> data);

 private:
  Result<void> decompress(std::span<const std::byte> data, std::size_t most);
  Result<Columns> split() const;

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<std::byte> plain_;
};

tl::unexpected<Error> damaged_chunk(const char* why);

}  // namespace shardlens::trace
